// Package option knows how to name an option in messages: as a field for Go programs, as a flag for
// the command, as a keyword for Python. This way, packages that all of these use need not know
// their caller.
package option

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"unicode"
)

// Style is the notation of options for the users of a process.
type Style struct {
	Name    func(field string) string
	Value   func(value any) string
	Between string // between a name and its value
	After   string // between two options
}

// fields is the style of Go programs.
var fields = Style{func(field string) string { return field }, goValue, ": ", ", "}

var style atomic.Pointer[Style]

func init() { Use(&fields) }

// Use sets the style of the process. A front end calls it before anything else.
func Use(s *Style) { style.Store(s) }

// Name returns an option in the user's notation: IDField, --id-field or id_field.
func Name(field string) string { return style.Load().Name(field) }

// Set returns an option with its value, or with several values to choose from: "Fingerprints: hex",
// "--fingerprints hex" or `fingerprints="hex"`.
func Set(field string, values ...any) string {
	s := style.Load()
	var all []string
	for _, v := range values {
		all = append(all, s.Value(v))
	}
	return s.Name(field) + s.Between + strings.Join(all, " or ")
}

// All joins options that must be used together.
func All(options ...string) string { return strings.Join(options, style.Load().After) }

// Words returns the name of a field in lower case with a separator between its words:
// Words("IDField", "-") is "id-field".
func Words(field, separator string) string {
	var b strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteString(separator)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// goValue quotes bytes, which are characters, and strings.
func goValue(value any) string {
	if _, ok := value.(byte); ok || reflect.TypeOf(value).Kind() == reflect.String {
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprint(value)
}
