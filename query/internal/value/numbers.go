package value

import (
	"encoding/json"

	"github.com/simdb/simdb/internal/jsonfield"
)

// Numbers gives JSON values numbers: equal ones, strings with escapes or without, have one.
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
