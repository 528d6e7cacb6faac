package record

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
)

// mostRows is the largest number of rows that share an allocation.
const mostRows = 256

// Cells allocates rows. Several rows share an allocation; their number doubles with each one.
type Cells struct {
	free []any
	rows int // number of rows in the last allocation
}

// Row returns an empty row with capacity n.
func (c *Cells) Row(n int) []any {
	if len(c.free) < n {
		c.rows = min(max(2*c.rows, 1), mostRows)
		c.free = make([]any, n*c.rows)
	}
	row := c.free[:0:n]
	c.free = c.free[n:]
	return row
}

// Fingerprint returns the first of the fingerprints of a document as a cell: a uint64, a []uint64
// for more than 64 bits, or nil if there is none.
func Fingerprint(fps []engine.Fingerprint) any {
	switch {
	case len(fps) == 0:
		return nil
	case len(fps[0]) == 1:
		return fps[0][0]
	}
	return []uint64(fps[0])
}

// Fingerprints returns the further fingerprints of a document as a cell: a JSON list of hexadecimal
// digits, or nil if there are none.
func Fingerprints(fps []engine.Fingerprint) any {
	if len(fps) < 2 {
		return nil
	}
	list := []byte{'['}
	for i, words := range fps[1:] {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(base.AppendHexWords(append(list, '"'), words), '"')
	}
	return json.RawMessage(append(list, ']'))
}

// Raw returns a copy of JSON, or nil for none.
func Raw(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return slices.Clone(raw)
}

// Field returns the value of a field as a cell: a string, a bool, an int64 for a whole number that
// fits, the JSON text of other values, and nil for no value.
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

// Size returns the size in bytes of a cell whose length depends on the document.
func Size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.RawMessage:
		return len(v)
	}
	return 0
}
