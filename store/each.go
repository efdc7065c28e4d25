package store

import (
	"cmp"
	"sync"
)

// Each does the work on some items at a time and returns the first error, after which no more are begun.
func Each[T any](items []T, work func(T) error) error {
	const atATime = 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	next := make(chan T)
	for range atATime {
		wg.Go(func() {
			for item := range next {
				mu.Lock()
				stop := failed != nil
				mu.Unlock()
				if stop {
					continue
				}
				if err := work(item); err != nil {
					mu.Lock()
					failed = cmp.Or(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	wg.Wait()
	return failed
}
