package store

import (
	"context"
	"net"
	"time"
)

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// moving ends connections on which nothing moves, either way, for the time of stall.
func moving(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return movingConn{c}, nil
	}
}

type movingConn struct{ net.Conn }

// Read waits as long as the other direction moves: a long upload has no answer before its end.
func (c movingConn) Read(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(stall))
	return c.Conn.Read(p)
}

func (c movingConn) Write(p []byte) (int, error) {
	c.SetDeadline(time.Now().Add(stall))
	return c.Conn.Write(p)
}
