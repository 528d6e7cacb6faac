package value

import (
	"encoding/json"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
)

// Numbers assigns numbers to JSON values. Equal values get the same number: strings are equal
// however they are escaped, and numbers such as 3 and 3.0 however they are written.
type Numbers map[string]uint32

// Of returns the number of a value.
func (n Numbers) Of(value json.RawMessage) uint32 {
	key := string(value)
	switch {
	case value[0] == '"':
		key = `"` + jsonfield.Text(value)
	case jsonfield.IsNumber(value):
		key = "0" + string(quantity.ParseDecimal(key).AppendOrdered(nil))
	}
	number, ok := n[key]
	if !ok {
		number = uint32(len(n))
		n[key] = number
	}
	return number
}
