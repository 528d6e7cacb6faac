package sstable

import (
	"fmt"
	"slices"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
)

// sketchWriter collects sketches as package minhash encodes them. A document without a sketch has an empty string.
type sketchWriter struct {
	list *blobs.ListWriter
	last minhash.Sketch // the last one that was not empty, and its code: equal documents follow each other
	code []byte
}

// isLast reports whether s is equal to the last sketch that was added, of those that were not empty.
func (w *sketchWriter) isLast(s minhash.Sketch) bool { return slices.Equal(s, w.last) }

// add appends a sketch and reports whether the chunk should be flushed.
func (w *sketchWriter) add(s minhash.Sketch) (full bool) {
	if len(s) == 0 {
		return w.list.Add(nil)
	}
	if !w.isLast(s) {
		w.last, w.code = append(w.last[:0], s...), s.AppendEncoded(w.code[:0])
	}
	return w.list.Add(w.code)
}

// get appends the sketch of a document, which must exist, to dst.
func (x *sketchIndex) get(doc uint32, dst minhash.Sketch) (minhash.Sketch, error) {
	encoded, err := x.sketches.Get(doc)
	if err != nil || len(encoded) == 0 {
		return dst, err
	}
	return x.decode(doc, encoded, dst)
}

// decode appends a document's sketch that is encoded as given.
func (x *sketchIndex) decode(doc uint32, encoded []byte, dst minhash.Sketch) (minhash.Sketch, error) {
	before := len(dst)
	dst, rest, err := minhash.Decode(dst, encoded)
	if err == nil && (len(rest) > 0 || len(dst)-before > x.size || len(dst) == before) {
		err = fmt.Errorf("%d hashes, at most %d, and %d bytes after them", len(dst)-before, x.size, len(rest))
	}
	if err != nil {
		return dst[:before], x.sketches.Corrupt(doc, "document %d: %w", doc, err)
	}
	return dst, nil
}
