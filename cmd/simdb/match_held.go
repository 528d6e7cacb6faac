package main

import (
	"context"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// Many searches together take a fraction of the time of each alone, so lines of a regular file are held back until there are many.
const (
	heldCount = 1 << 18  // lines that are decided together at most
	heldBytes = 64 << 20 // of lines after which they are decided
)

// heldLines are lines that are not decided yet.
type heldLines struct {
	raw   []byte   // one after the other
	ends  []int    // of each line
	fps   []uint64 // of the lines that have one
	line  []int    // of each fingerprint
	known []bool   // of each line: something in the database is like it
}

// hold keeps a record and reports whether it is time to decide. Those in allowed pairs, which are few, are decided at once.
func (t *matching) hold(ctx context.Context, rec *input.Record) (full bool, err error) {
	h := t.held
	known := false
	if t.inPairs[rec.Doc.ID] {
		if known, err = t.knownBeside(ctx, rec); err != nil {
			return false, err
		}
	} else if fp, ok := t.fingerprint(rec); ok {
		h.fps, h.line = append(h.fps, fp), append(h.line, len(h.ends))
	}
	h.raw = append(h.raw, rec.Raw...)
	h.ends, h.known = append(h.ends, len(h.raw)), append(h.known, known)
	return len(h.ends) >= heldCount || len(h.raw) >= heldBytes, nil
}

// release writes those of the lines held that are new. There is nothing to do where lines are decided one by one.
func (t *matching) release(ctx context.Context, in input.Source) error {
	h := t.held
	if h == nil {
		return nil
	}
	known, err := t.db.AnyNear(ctx, h.fps, int(*t.c.Near))
	if err != nil {
		return err
	}
	for i, is := range known {
		h.known[h.line[i]] = is
	}
	start := 0
	for i, end := range h.ends {
		if !h.known[i] {
			if err := t.write(h.raw[start:end:end], in); err != nil {
				return err
			}
		}
		start = end
	}
	h.raw, h.ends, h.fps, h.line, h.known = h.raw[:0], h.ends[:0], h.fps[:0], h.line[:0], h.known[:0]
	return nil
}
