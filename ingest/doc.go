// Package ingest turns logs and spans into a run.
//
// Flow: Expand finds the files; open undoes compression, hashing the plain bytes for the identity of the part; lookAt
// reads the head in the ways it can be read (JSON lines, JSON documents, JSON behind a prefix, CSV, text, framed messages,
// and what stands inside the records of an export or a shipper); detect asks each format of the one list about each look;
// split cuts the container into blocks of records; workers decode blocks in parallel and one writer stores the requests in order. The
// Account adds up: read = kept + rejected + incomplete + skipped.
//
// [Follow] keeps a run up to date with logs that grow: what a file gained is one part, made again until it is sealed.
//
// Memory does not grow with the input: a few blocks, the writer's window and its open row groups (32 MiB), and one record
// of at most 64 MiB.
//
// Adding a format: a file in one of the families below this folder, and one line in formats.go.
package ingest
