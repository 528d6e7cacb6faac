package records

import (
	"fmt"
	"strings"
)

// Span is a part of a text: its bytes from From up to To.
type Span struct{ From, To int }

// Cutter is a Source whose records can be copied with a part of their text.
type Cutter interface {
	// CanCut returns an error if the records of this source that have been read cannot be cut, or
	// those at its beginning, as texts are made of several fields.
	CanCut() error

	// CutText returns rec.Raw with these parts of Doc.Text for its text: spans of whole characters,
	// that ascend; an empty one stands for a space. All else stays byte for byte, except for what says how long the text is and what
	// its digest is, and so do the parts, unless the record has invalid UTF-8.
	CutText(rec *Record, keep []Span) []byte
}

func cutter(src Source) Cutter {
	if made, ok := src.(madeIDs); ok {
		src = made.Source
	}
	c, _ := src.(Cutter)
	return c
}

// CanCut returns an error if the records of src cannot be copied with a part of their text.
func CanCut(src Source) error {
	c := cutter(src)
	if c == nil {
		return fmt.Errorf("%s is %s: copies of it are whole records, without a part of their text; JSON lines, JSON, CSV, Parquet, WARC and plain text can be cut", src.Info().Name, src.Info().Format.Describe().Label)
	}
	return c.CanCut()
}

// CutText is Cutter.CutText of a source whose CanCut is nil.
func CutText(src Source, rec *Record, keep []Span) []byte { return cutter(src).CutText(rec, keep) }

// Parts returns parts of a text, one after the other; see Cutter.
func Parts(text string, keep []Span) string {
	var b strings.Builder
	for _, k := range keep {
		b.WriteString(text[k.From:k.To])
		if k.From == k.To {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
