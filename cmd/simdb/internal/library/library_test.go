package library

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/engine"
)

// TestOpenCancelled opens databases whose caller gets no reply, or no longer waits for it: they are
// not left open, and locked.
func TestOpenCancelled(t *testing.T) {
	var l Library
	path := filepath.Join(t.TempDir(), "x.simdb")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Run(ended, &Request{Op: "open", DB: 1, Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the end: %v", err)
	}
	if len(l.dbs) > 0 {
		t.Errorf("%d databases are open", len(l.dbs))
	}
	for range 2 { // the reply is lost, and the caller closes what it may have opened
		if _, err := l.Run(t.Context(), &Request{Op: "open", DB: 7, Path: path}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Run(t.Context(), &Request{Op: "open", DB: 7, Path: path + "2"}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("a number twice: %v", err)
		}
		if _, err := l.Run(ended, &Request{Op: "close", DB: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Run(t.Context(), &Request{Op: "query", DB: 7}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("used after it was closed: %v", err)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}
