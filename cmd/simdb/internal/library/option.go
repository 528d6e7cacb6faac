package library

import (
	"fmt"

	"github.com/simdb/simdb/internal/option"
)

// Keywords writes options in the style of Python.
var Keywords = option.Style{Name: keyword, Value: keywordValue, Between: "=", After: ", "}

// keyword returns the keyword that sets a field.
func keyword(field string) string {
	switch field {
	case "TextField":
		return "text"
	case "IDField":
		return "id"
	case "AgainstTextField":
		return "against_text"
	case "AgainstIDField":
		return "against_id"
	case "Fields":
		return "field"
	case "RequireWords":
		return "require_word"
	}
	return option.Words(field, "_")
}

func keywordValue(value any) string {
	switch v := value.(type) {
	case byte:
		value = string(rune(v))
	case int64, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%q", fmt.Sprint(value))
}
