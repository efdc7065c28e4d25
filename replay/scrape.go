package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

// scrapeEvery is the distance of two readings of a page.
const scrapeEvery = time.Second

// ScrapeOptions say which metrics pages are read and where the values go.
type ScrapeOptions struct {
	URLs   []string
	Target string                     // base address of the target
	Header http.Header                // sent to pages on the target's own host alone: it may hold a key
	Sink   func([]trace.Sample) error // gets the samples of one reading, one at a time
	Every  time.Duration              // 0 is a second
}

// Scraped says how reading one page went.
type Scraped struct {
	Endpoint string `json:"endpoint"`
	Read     int    `json:"read"`
	Failed   int    `json:"failed"`          // readings without an answer, or one that was no metrics page
	Error    string `json:"error,omitempty"` // of the last that failed
	Samples  int    `json:"samples"`
}

// Scraper reads metrics pages of a target while a replay runs: once at the start, every second, once at the end.
type Scraper struct {
	opt   ScrapeOptions
	pages *wire.Pages
	start time.Time // the wall clock is read once, so that samples and arrivals stay together when it is set
	out   []Scraped
	own   []bool // the page is on the target's host
	err   error  // of the sink
	stop  chan struct{}
	done  chan struct{}
}

// StartScrape begins to read. Stop must be called. An address that is none is an error.
func StartScrape(o ScrapeOptions) (*Scraper, error) {
	if o.Every == 0 {
		o.Every = scrapeEvery
	}
	s := &Scraper{opt: o, pages: wire.NewPages(max(o.Every, scrapeEvery)), start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	target, err := url.Parse(o.Target)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	for _, address := range o.URLs {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("metrics page: want an address such as http://host:8000/metrics, got %q", address)
		}
		s.out, s.own = append(s.out, Scraped{Endpoint: u.Host}), append(s.own, u.Scheme == target.Scheme && u.Host == target.Host)
	}
	go s.run()
	return s, nil
}

// Stop reads once more and says how it went. The error is the sink's.
func (s *Scraper) Stop() ([]Scraped, error) {
	close(s.stop)
	<-s.done
	s.pages.Close()
	return s.out, s.err
}

func (s *Scraper) run() {
	defer close(s.done)
	tick := time.NewTicker(s.opt.Every)
	defer tick.Stop()
	for {
		s.round()
		select {
		case <-tick.C:
		case <-s.stop:
			s.round()
			return
		}
	}
}

// withoutAddress takes the address out of an error that is stored with the run: it may hold a token.
func withoutAddress(err error) error {
	var in *url.Error
	if errors.As(err, &in) {
		return in.Err
	}
	return err
}

// round reads each page once. What a page says is dated to the middle of the time that it took to come.
func (s *Scraper) round() {
	for i := range s.out {
		out := &s.out[i]
		from := time.Since(s.start)
		var header http.Header
		if s.own[i] {
			header = s.opt.Header
		}
		page, err := s.pages.Get(context.Background(), s.opt.URLs[i], header)
		at := s.start.Add((from + time.Since(s.start)) / 2).UnixMicro()
		samples, bad := parseProm(string(page))
		if err == nil && len(samples) == 0 {
			err = fmt.Errorf("no metrics in the page (%d lines of something else)", bad)
		}
		if err != nil {
			out.Failed, out.Error = out.Failed+1, withoutAddress(err).Error()
			continue
		}
		for j := range samples {
			samples[j].AtUS, samples[j].Endpoint = at, out.Endpoint
		}
		out.Read, out.Samples = out.Read+1, out.Samples+len(samples)
		if s.err == nil {
			s.err = s.opt.Sink(samples)
		}
	}
}
