package store

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A connection on which nothing moves is given up; one on which the other direction moves is not.
func TestMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		c, err := moving(func(context.Context, string, string) (net.Conn, error) { return here, nil })(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		go func() { // an upload that takes long
			for range 10 {
				time.Sleep(stall / 2)
				c.Write([]byte("x"))
			}
		}()
		go func() {
			b := make([]byte, 1)
			for {
				if _, err := there.Read(b); err != nil {
					return
				}
			}
		}()
		_, err = c.Read(make([]byte, 1)) // for the answer, which never comes
		if took := time.Since(begin); !errors.Is(err, os.ErrDeadlineExceeded) || took != 6*stall {
			t.Errorf("given up after %v with %v, want %v", took, err, 6*stall)
		}
		here.Close()
		there.Close()
	})
}
