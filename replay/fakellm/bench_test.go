//go:build unix

package fakellm

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// clientOf, when set, makes the test binary a client of that address in place of a test run, so that the benchmark's
// processor time is the server's alone.
const clientOf = "FAKELLM_CLIENT_OF"

func TestMain(m *testing.M) {
	if addr := os.Getenv(clientOf); addr != "" {
		os.Exit(min(readStreams(addr, 200, 150), 1))
	}
	os.Exit(m.Run())
}

// readStreams opens n streams of some tokens each, reads them to their end and counts those that were not whole.
func readStreams(addr string, n, tokens int) int {
	var failed atomic.Int64
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			if err := readStream(addr, tokens); err != nil {
				fmt.Fprintln(os.Stderr, err)
				failed.Add(1)
			}
		})
	}
	wait.Wait()
	return int(failed.Load())
}

func readStream(addr string, tokens int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	body := threeWords + `,"stream":true,"max_tokens":` + strconv.Itoa(tokens) + `}`
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
	got, err := io.ReadAll(bufio.NewReader(conn))
	if chunks := strings.Count(string(got), `"content":"`); err != nil || chunks != tokens+1 {
		return fmt.Errorf("%d chunks, want %d and the role, error %v", chunks, tokens, err)
	}
	return nil
}

// BenchmarkStreams200 serves 200 streams at 50 tokens/s for 3 s to a client in another process. It reports the cores that
// the server used, and how late chunks were written after their modelled time.
func BenchmarkStreams200(b *testing.B) {
	for b.Loop() {
		s, url, err := Listen(Config{Slots: 200, DecodeBase: 20 * time.Millisecond, KeepTruth: true, Truth: io.Discard})
		if err != nil {
			b.Fatal(err)
		}
		client := exec.Command(os.Args[0])
		client.Env = append(os.Environ(), clientOf+"="+strings.TrimPrefix(url, "http://"))
		client.Stderr = os.Stderr
		before, start := processorTime(), time.Now()
		if err := client.Run(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((processorTime()-before).Seconds()/time.Since(start).Seconds(), "cores")
		reportLateness(b, s.Truth())
		s.Close()
	}
}

// reportLateness also reports the first write of each step: the engine's own lateness, without the 199 writes before the
// last one.
func reportLateness(b *testing.B, t Truth) {
	var late []int64
	first := make(map[int64]int64)
	for _, r := range t.Requests {
		for i, at := range r.WrittenUS {
			l := at - r.ChunkUS[i]
			late = append(late, l)
			if least, seen := first[r.ChunkUS[i]]; !seen || l < least {
				first[r.ChunkUS[i]] = l
			}
		}
	}
	firsts := slices.Sorted(maps.Values(first))
	slices.Sort(late)
	b.ReportMetric(float64(firsts[len(firsts)/2]), "p50-first-us")
	b.ReportMetric(float64(firsts[len(firsts)*99/100]), "p99-first-us")
	b.ReportMetric(float64(late[len(late)/2]), "p50-late-us")
	b.ReportMetric(float64(late[len(late)*99/100]), "p99-late-us")
	b.ReportMetric(float64(len(late)), "chunks")
}

// processorTime is what this process used so far, in user and kernel mode.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
