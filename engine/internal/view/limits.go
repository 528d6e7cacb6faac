package view

import (
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine/internal/files"
)

// The limits of a document, which engine.MaxIDBytes and engine.MaxTextBytes document.
const (
	maxIDBytes   = 65535
	MaxTextBytes = 64 << 20
)

// CheckID returns Invalid for an empty ID and for one that only codes have, and TooLarge for one of
// more than maxIDBytes bytes.
func CheckID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("a document needs an id: %w", files.ErrInvalid)
	case strings.HasPrefix(id, codeMark):
		return fmt.Errorf("id %s begins as those of codes do: %w", files.QuoteID(id), files.ErrInvalid)
	case len(id) > maxIDBytes:
		return fmt.Errorf("id of %d bytes, the most is %d: %w", len(id), maxIDBytes, files.ErrTooLarge)
	}
	return nil
}
