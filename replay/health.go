package replay

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// healthWatch measures this process while a replay runs.
type healthWatch struct {
	start   time.Time
	cpu     time.Duration
	known   bool
	pauses  *metrics.Float64Histogram
	quit    chan struct{}
	hiccups chan []float64
}

const pauseMetric = "/sched/pauses/total/gc:seconds"

// sleepers are the threads that sleep in the kernel while a replay runs, this watch's and the dispatcher's. Each keeps one of the runtime's
// processors until the runtime's monitor takes it away, up to 10 ms, while a call that is due waits: so there is one more for each.
const sleepers = 2

// processors are those the runtime has while no replay runs. Several may run at once (selfcheck): none takes what another has set for it.
var processors = runtime.GOMAXPROCS(0)

func startHealth() *healthWatch {
	h := &healthWatch{start: time.Now(), pauses: gcPauses(), quit: make(chan struct{}), hiccups: make(chan []float64, 1)}
	h.cpu, h.known = cpuTime()
	runtime.GOMAXPROCS(processors + sleepers)
	go h.watch()
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

// hiccupStep is a pause of the watcher; what it takes longer is the hiccup. Each sleep of a thread takes a processor from the runtime, whose
// monitor then wakes every 20 us for a while to give it on: at 10 ms that alone cost half of what the client used.
const hiccupStep = 50 * time.Millisecond

// watch sleeps and notes how late it wakes (microseconds): nothing this process measures can be better.
func (h *healthWatch) watch() {
	runtime.LockOSThread() // its thread, with the finer timers it is given, ends with it
	var late []float64
	for {
		select {
		case <-h.quit:
			h.hiccups <- late
			return
		default:
		}
		start := time.Now()
		rest(hiccupStep)
		late = append(late, float64(time.Since(start)-hiccupStep)/1000)
	}
}

// stop ends the watch.
func (h *healthWatch) stop() Health {
	close(h.quit)
	late := <-h.hiccups
	runtime.GOMAXPROCS(processors)
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
