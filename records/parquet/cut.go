package parquet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// rowCut is a row of a row group whose text is only partly copied.
type rowCut struct {
	row  int64
	keep []records.Span
}

// CanCut implements records.Cutter.
func (f *file) CanCut() error {
	switch {
	case f.info.FingerprintsOnly:
		return fmt.Errorf("%s has fingerprints but no texts", f.info.Name)
	case f.roles.text() == nil || !isText(f.roles.text()):
		return fmt.Errorf("one column of strings can be cut: %s names it", option.Name("TextField"))
	}
	return nil
}

// CutText implements records.Cutter. It returns the number of the row and the remaining parts, in
// the format that parseRow reads.
func (f *file) CutText(rec *records.Record, keep []records.Span) []byte {
	b := slices.Clip(rec.Raw)
	for _, k := range keep {
		b = fmt.Appendf(b, " %d-%d", k.From, k.To)
	}
	return b
}

// parseRow returns the number of a row and the remaining parts of its text, nil for the whole text.
func parseRow(raw []byte) (pos int64, keep []records.Span, err error) {
	number, parts, cut := strings.Cut(string(raw), " ")
	pos, err = strconv.ParseInt(number, 10, 64)
	if cut && err == nil {
		for part := range strings.FieldsSeq(parts) {
			from, to, _ := strings.Cut(part, "-")
			var k records.Span
			k.From, err = strconv.Atoi(from)
			if err == nil {
				k.To, err = strconv.Atoi(to)
			}
			if err != nil {
				break
			}
			keep = append(keep, k)
		}
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%q is not a row: %w", raw, err)
	}
	return pos, keep, nil
}

// cutValue returns a text reduced to these parts.
func cutValue(v pq.Value, keep []records.Span) pq.Value {
	text := records.ValidText(string(v.ByteArray()))
	return pq.ByteArrayValue([]byte(records.Parts(text, keep))).Level(v.RepetitionLevel(), v.DefinitionLevel(), v.Column())
}
