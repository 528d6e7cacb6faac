package records

import (
	"context"
	"encoding/hex"
	"iter"
	"strconv"

	"github.com/zeebo/xxh3"
)

// madeIDs is a Source that replaces the IDs of another one as IDFrom says.
type madeIDs struct {
	Source
	from IDFrom
}

// ownSource returns the Source of a format, without the wrapper that replaces IDs.
func ownSource(src Source) Source {
	if made, ok := src.(madeIDs); ok {
		return made.Source
	}
	return src
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
			if err == nil && s.from == IDFromHash && rec.Doc.Text == "" && rec.Doc.Fingerprints != nil {
				rec.Flaw = "there is no text to make an id from"
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

func (s madeIDs) id(rec *Record) string {
	if s.from == IDFromHash && (rec.Doc.Text != "" || rec.Doc.Fingerprints == nil) {
		sum := xxh3.HashString128(rec.Doc.Text).Bytes()
		return hex.EncodeToString(sum[:])
	}
	return rec.File + ":" + strconv.FormatInt(int64(rec.Pos), 10)
}
