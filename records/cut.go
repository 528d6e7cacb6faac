package records

import (
	"fmt"
	"strings"
)

// Span is a part of a text: its bytes from From up to To.
type Span struct{ From, To int }

// Cutter is a Source whose records can be copied with only a part of their text.
type Cutter interface {
	// CanCut returns an error if records read so far, or those at the beginning of the source,
	// cannot be cut because their text comes from several fields.
	CanCut() error

	// CutText returns rec.Raw with its text replaced by these spans of Doc.Text. The spans are in
	// ascending order and contain whole characters; an empty span stands for a space. All other
	// bytes stay the same, except for length and digest fields. So do the bytes of the spans,
	// unless the record has invalid UTF-8.
	CutText(rec *Record, keep []Span) []byte
}

// CanCut returns an error if the records of src cannot be copied with a part of their text.
func CanCut(src Source) error {
	c, ok := ownSource(src).(Cutter)
	if !ok {
		return fmt.Errorf("%s is %s, whose texts cannot be cut; those of JSON lines, JSON, CSV, Parquet, WARC and plain text can", src.Info().Name, src.Info().Format.Describe().Label)
	}
	return c.CanCut()
}

// CutText calls Cutter.CutText. CanCut(src) must have returned nil.
func CutText(src Source, rec *Record, keep []Span) []byte {
	return ownSource(src).(Cutter).CutText(rec, keep)
}

// Parts concatenates spans of a text as Cutter.CutText does.
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
