package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxPage bounds a metrics page; the largest seen (an engine with hundreds of histograms) has 2 MB.
const maxPage = 16 << 20

// Pages reads pages, such as a target's metrics, over connections of its own, so that no call waits for one.
type Pages struct{ http *http.Client }

// NewPages returns a reader that gives up on a page after timeout. Proxy settings of the environment are not read, and
// redirects are not followed.
func NewPages(timeout time.Duration) *Pages {
	return &Pages{&http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Get reads one page whole.
func (p *Pages) Get(ctx context.Context, url string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("want status 200, got %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err == nil && len(body) > maxPage {
		err = errors.New("the page has more than 16 MB")
	}
	return body, err
}

// Close drops the idle connections.
func (p *Pages) Close() { p.http.CloseIdleConnections() }
