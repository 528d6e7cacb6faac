package record

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
)

// mostRows is how many rows share their memory, at most.
const mostRows = 256

// Cells makes room for rows, which share memory: more of them as there are more of them.
type Cells struct {
	free []any
	rows int // that room was made for, the last time
}

// Row returns an empty row with room for n cells.
func (c *Cells) Row(n int) []any {
	if len(c.free) < n {
		c.rows = min(max(2*c.rows, 1), mostRows)
		c.free = make([]any, n*c.rows)
	}
	row := c.free[:0:n]
	c.free = c.free[n:]
	return row
}

// Fingerprint returns a fingerprint as rows have it: a uint64, or of more than 64 bits a []uint64;
// nil for none.
func Fingerprint(words []base.Fingerprint) any {
	switch len(words) {
	case 0:
		return nil
	case 1:
		return words[0]
	}
	return words
}

// Fingerprints returns further fingerprints as rows have them: a JSON list of hexadecimal digits;
// nil for none.
func Fingerprints(fps [][]base.Fingerprint) any {
	if len(fps) == 0 {
		return nil
	}
	list := []byte{'['}
	for i, words := range fps {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(base.AppendHexWords(append(list, '"'), words), '"')
	}
	return json.RawMessage(append(list, ']'))
}

// Raw returns a copy of JSON; nil for none.
func Raw(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return slices.Clone(raw)
}

// Field returns a value of a field as rows have it: a string, a bool, an int64 for a whole number
// that fits, other values as they are written, and nil for nothing.
func Field(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		return jsonfield.Text(raw)
	case 't', 'f':
		return raw[0] == 't'
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	return slices.Clone(raw)
}

// Size returns how many bytes a cell has that is as long as a document makes it.
func Size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.RawMessage:
		return len(v)
	}
	return 0
}
