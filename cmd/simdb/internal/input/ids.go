package input

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"

	"github.com/zeebo/xxh3"
)

// IDFrom is what the IDs of records are made of.
type IDFrom string

// What IDs are made of.
const (
	IDFromField IDFrom = ""     // they are those of Options.IDField
	IDFromHash  IDFrom = "hash" // of the text: its XXH3, 128 bits, in 32 hexadecimal digits
	IDFromLine  IDFrom = "line" // of the place: "file:position"
)

// UnmarshalText parses the name of a value.
func (f *IDFrom) UnmarshalText(text []byte) error {
	switch from := IDFrom(text); from {
	case IDFromField, IDFromHash, IDFromLine:
		*f = from
		return nil
	}
	return fmt.Errorf("%q is nothing to make an id of: hash or line", text)
}

// madeIDs is a Source whose IDs are made.
type madeIDs struct {
	Source
	from IDFrom
}

// Info describes the source.
func (s madeIDs) Info() Info {
	info := s.Source.Info()
	info.PositionIDs = false
	return info
}

// Records yields the records with their new IDs.
func (s madeIDs) Records(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for rec, err := range s.Source.Records(ctx) {
			if err == nil && s.from == IDFromHash && rec.Doc.Text == "" && rec.Doc.Fingerprint != nil {
				rec, err = nil, NewIssue(s, rec, "there is no text to make an id of")
			}
			if err == nil {
				rec.Doc.ID = s.id(rec)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// id makes the ID of a record.
func (s madeIDs) id(rec *Record) string {
	if s.from == IDFromHash {
		sum := xxh3.HashString128(rec.Doc.Text).Bytes()
		return hex.EncodeToString(sum[:])
	}
	return rec.File + ":" + strconv.FormatInt(int64(rec.Pos), 10)
}

// unwrapping is a Copier that gets the Sources that the formats have made.
type unwrapping struct{ Copier }

// Copy appends a record.
func (c unwrapping) Copy(src Source, raw []byte) error {
	if made, ok := src.(madeIDs); ok {
		src = made.Source
	}
	return c.Copier.Copy(src, raw)
}
