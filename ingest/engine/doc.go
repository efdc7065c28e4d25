// Package engine decodes what inference servers themselves write: request logs, access logs, recorded answers, timing
// dumps.
//
// Contract: each exported constructor returns one [decode.Format]; ingest lists them. Every row has vantage engine. Such
// logs know the stages (waiting, prefill, decode) that no gateway sees, and little else; what a line does not prove stays
// NULL. In particular:
//
//   - a stamp without a year, or of a clock that counts from the server's start, gives clock_domain relative: never
//     compared with a wall clock;
//   - where only the end and the duration are written, arrival is their difference (quality arrival_derived);
//   - where the log begins with the work, arrival is that begin and the wait before it is in no duration (quality
//     queue_unseen); there is no first_us and no end_us then: without the wait they would be taken for ones with it.
//
// Logs that tell of a request in several lines are groups: the lines are read in order and what is open is kept, up to
// maxOpen requests.
package engine
