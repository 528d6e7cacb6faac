package value

import (
	"encoding/json"

	"github.com/simdb/simdb/internal/jsonfield"
)

// Numbers assigns numbers to JSON values. Equal values get the same number; strings are equal
// however they are escaped.
type Numbers map[string]uint32

// Of returns the number of a value.
func (n Numbers) Of(value json.RawMessage) uint32 {
	key := string(value)
	if value[0] == '"' {
		key = `"` + jsonfield.Text(value)
	}
	number, ok := n[key]
	if !ok {
		number = uint32(len(n))
		n[key] = number
	}
	return number
}
