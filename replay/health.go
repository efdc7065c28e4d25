package replay

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// healthWatch measures this process while a replay runs.
type healthWatch struct {
	start  time.Time
	cpu    time.Duration
	known  bool
	pauses *metrics.Float64Histogram
}

const pauseMetric = "/sched/pauses/total/gc:seconds"

func startHealth() *healthWatch {
	h := &healthWatch{start: time.Now(), pauses: gcPauses()}
	h.cpu, h.known = cpuTime()
	return h
}

func gcPauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: pauseMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := *s[0].Value.Float64Histogram()
	h.Counts = slices.Clone(h.Counts)
	return &h
}

// processors are those the runtime has while no replay runs.
var processors = runtime.GOMAXPROCS(0)

// stop ends the watch. late is by how much the dispatcher woke behind what it asked for, in microseconds: nothing this process measures can
// be better.
func (h *healthWatch) stop(late []float64) Health {
	var out Health
	if len(late) > 0 {
		slices.Sort(late)
		out.HiccupP99, out.HiccupMax = max(quantile(late, .99), 0), max(late[len(late)-1], 0)
	}
	if cpu, ok := cpuTime(); ok && h.known {
		share := float64(cpu-h.cpu) / float64(time.Since(h.start)) / float64(processors)
		out.CPUShare = &share
	}
	out.GCPauseP99 = pauseP99(h.pauses, gcPauses())
	return out
}

// pauseP99 is the upper edge of the bucket that holds the 99th percentile of the pauses in between, in microseconds; nil
// without pauses.
func pauseP99(before, after *metrics.Float64Histogram) *float64 {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return nil
	}
	total, sum := uint64(0), uint64(0)
	for i := range after.Counts {
		total += after.Counts[i] - before.Counts[i]
	}
	if total == 0 {
		return nil
	}
	for i := range after.Counts {
		if sum += after.Counts[i] - before.Counts[i]; float64(sum) >= .99*float64(total) {
			edge := after.Buckets[min(i+1, len(after.Buckets)-2)] * 1e6 // the last edge is infinite
			return &edge
		}
	}
	return nil
}
