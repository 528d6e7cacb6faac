package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/blobs"
)

// Limits of a table and of a document. Anything that exceeds a limit is refused, never truncated.
const (
	MaxIDBytes    = 1<<16 - 1       // an ID has 1 to MaxIDBytes bytes
	MaxRecordSize = blobs.MaxRecord // bytes of Text and Fields together
)

// Document is a document as tables store it. An empty Text or Fields is the same as an absent one.
type Document struct {
	ID             []byte        // 1 to MaxIDBytes bytes, unique in the table
	HasFingerprint bool          // false for a text without words, which matches nothing
	Fingerprint    Fingerprint   // valid if HasFingerprint: the first word of the fingerprint
	Rest           []Fingerprint // the other words, Params.NumWords()-1
	Time           int64         // when it was stored, microseconds since the Unix epoch
	Expires        int64         // when it expires, microseconds since the Unix epoch; 0 for never
	Seq            uint64        // sequence number of the write, assigned by the engine
	Text, Fields   []byte        // stored if Params.StoreText
	// Sketch is the MinHash sketch (package minhash), ascending; nil if there is none. It is stored
	// if Params.Sketch > 0.
	Sketch []uint32
	// Odd is the odd sketch of the set of features of Text, if it is known. Writers need it if there
	// are texts and sketches, and compute it otherwise. Documents that are read do not have it.
	Odd *oddsketch.Sketch
}

// ExpiresAt returns when d expires, the zero time for never.
func (d *Document) ExpiresAt() (t time.Time) {
	if d.Expires != 0 {
		t = time.UnixMicro(d.Expires)
	}
	return t
}

// Expiry returns t in the form of Document.Expires; the zero time means never. The Unix epoch is
// stored as a microsecond earlier.
func Expiry(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return cmp.Or(t.UnixMicro(), -1)
}

// Compare orders documents as a table numbers them: by the first word of the fingerprint, those
// without a fingerprint last, by ID. It returns 0 if either order is right.
func (d *Document) Compare(e *Document) int {
	switch {
	case d.HasFingerprint && e.HasFingerprint:
		return cmp.Compare(d.Fingerprint, e.Fingerprint)
	case d.HasFingerprint:
		return -1
	case e.HasFingerprint:
		return 1
	}
	return bytes.Compare(d.ID, e.ID)
}

// check returns an error if d exceeds a limit of the format.
func (d *Document) check(words int) error {
	switch {
	case len(d.ID) == 0:
		return errors.New("a document without an ID")
	case len(d.ID) > MaxIDBytes:
		return fmt.Errorf("ID of %d bytes; the limit is %d: %w", len(d.ID), MaxIDBytes, ErrTooLarge)
	case d.HasFingerprint && len(d.Rest) != words-1:
		return fmt.Errorf("a fingerprint of %d bits in a table of %d bits", 64*(len(d.Rest)+1), 64*words)
	case len(d.Text) > MaxRecordSize, len(d.Fields) > MaxRecordSize-len(d.Text):
		return fmt.Errorf("text and fields of %d bytes; the limit is %d: %w", len(d.Text)+len(d.Fields), MaxRecordSize, ErrTooLarge)
	}
	return nil
}
