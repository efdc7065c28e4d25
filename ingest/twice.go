package ingest

import "time"

// shownTwice says whether the clock of a zone shows the time of this instant twice: it is set back within the time by which it is, before
// or after.
func shownTwice(us int64, zone *time.Location) bool {
	at := time.UnixMicro(us).In(zone)
	start, end := at.ZoneBounds()
	return !end.IsZero() && end.Sub(at) <= setBack(end) || !start.IsZero() && at.Sub(start) < setBack(start)
}

// setBack is by how much the clock goes back at a bound of a zone's time; 0 or less where it goes on.
func setBack(bound time.Time) time.Duration {
	_, before := bound.Add(-1).Zone()
	_, after := bound.Zone()
	return time.Duration(before-after) * time.Second
}
