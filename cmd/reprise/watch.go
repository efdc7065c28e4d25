package main

import (
	"reprise/ingest/trace"
	"reprise/replay"
)

// watch reads the target's own metrics into the run while a replay runs. The zero value reads nothing.
type watch struct {
	scraper *replay.Scraper
	samples *trace.SampleWriter
}

// startWatch begins to read.
func startWatch(to outlet, o *replay.Options) (w watch, err error) {
	if len(to.metrics) == 0 {
		return w, nil
	}
	if w.samples, err = trace.NewSampleWriter(to.run); err != nil {
		return w, err
	}
	w.scraper, err = replay.StartScrape(replay.ScrapeOptions{URLs: to.metrics, Target: o.Target, Header: o.Header, Sink: w.samples.Add})
	if err != nil {
		w.abort()
		return watch{}, usage(err)
	}
	return w, nil
}

func (w watch) stop() ([]replay.Scraped, error) {
	if w.scraper == nil {
		return nil, nil
	}
	return w.scraper.Stop()
}

func (w watch) commit(part string) error {
	if w.samples == nil {
		return nil
	}
	return w.samples.Commit(part)
}

func (w watch) abort() {
	if w.samples != nil {
		w.samples.Abort()
	}
}
