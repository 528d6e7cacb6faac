package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
)

// Limits of a document, documented in base.MaxIDBytes and base.MaxTextBytes.
const (
	maxIDBytes   = 65535
	MaxTextBytes = 64 << 20
)

// CheckID returns ErrInvalid for an empty ID and for one with the prefix of codes, and ErrTooLarge
// for one of more than maxIDBytes bytes.
func CheckID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a document needs an id: %w", files.ErrInvalid)
	case strings.HasPrefix(id, codeMark):
		return fmt.Errorf("id %s has a reserved prefix: %w", files.QuoteID(id), files.ErrInvalid)
	case len(id) > maxIDBytes:
		return fmt.Errorf("id of %d bytes; the limit is %d: %w", len(id), maxIDBytes, files.ErrTooLarge)
	}
	return nil
}

// CheckDoc returns ErrInvalid or ErrTooLarge if a document cannot be stored.
func CheckDoc(d *Doc) error {
	if err := CheckID(d.ID); err != nil {
		return err
	}
	if n := len(d.Text) + len(d.Fields); n > MaxTextBytes {
		return fmt.Errorf("document %s of %d bytes; the limit is %d: %w", files.QuoteID(d.ID), n, MaxTextBytes, files.ErrTooLarge)
	}
	for _, t := range []time.Time{d.Time, d.Expires} {
		// Sub saturates at the longest duration, so that off is large for a time that is far out of
		// range of int64 microseconds.
		if off := t.Sub(time.UnixMicro(t.UnixMicro())); !t.IsZero() && (off < 0 || off >= time.Microsecond) {
			return fmt.Errorf("document %s: its time, in the year %d, is out of range: %w", files.QuoteID(d.ID), t.Year(), files.ErrInvalid)
		}
	}
	if len(d.Fields) > 0 && (d.Fields[0] != '{' || !json.Valid(d.Fields)) {
		return fmt.Errorf("document %s: fields are not a JSON object: %w", files.QuoteID(d.ID), files.ErrInvalid)
	}
	return nil
}
