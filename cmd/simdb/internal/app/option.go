package app

import (
	"fmt"
	"strings"

	"github.com/simdb/simdb/internal/option"
)

// Flags writes options in the style of the command line.
var Flags = option.Style{Name: flagOf, Value: flagValue, Between: " ", After: " "}

// flagOf returns the flag that sets a field.
func flagOf(field string) string {
	switch field {
	case "Format":
		field = "InputFormat" // --format is the format of rows
	case "RequireWords":
		field = "RequireWord"
	case "Output":
		return "-o"
	case "Fields":
		field = "Field"
	}
	return "--" + option.Words(field, "-")
}

// flagValue writes a value for a shell.
func flagValue(value any) string {
	if c, ok := value.(byte); ok {
		if value = string(rune(c)); c == '\t' {
			value = "tab"
		}
	}
	return ShellWord(fmt.Sprint(value))
}

// ShellWord quotes a word for a shell if needed.
func ShellWord(word string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,=@%+", r))
	}
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
