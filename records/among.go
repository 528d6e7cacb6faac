package records

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/spelling"
)

// shownNames is how many names of fields a message lists.
const shownNames = 10

// Among lists the names of fields for a message, and suggests the one that the user may have meant
// by wanted: ` (its fields are "a", "b"; did you mean "a"?)`. It returns "" if there are no names.
func Among(what string, names []string, wanted string) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" (" + what)
	for i, name := range names[:min(len(names), shownNames)] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + strconv.Quote(Short(name)))
	}
	if more := len(names) - shownNames; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if meant := meantBy(wanted, names); meant != "" {
		fmt.Fprintf(&b, "; did you mean %q?", meant)
	}
	b.WriteByte(')')
	return b.String()
}

// others are synonyms of the usual field names.
var others = map[string][]string{
	"text":        {"content", "body", "parts", "message", "document", "comment"},
	"id":          {"_id", "uuid", "guid", "key", "url"},
	"fingerprint": {"simhash", "phash", "dhash", "ahash", "whash", "pdq", "hash"},
}

// meantBy returns the name that the user may have meant by wanted: a similar one, a member of an
// object, or a synonym. It returns "" if there is none.
func meantBy(wanted string, names []string) string {
	if meant, ok := spelling.Closest(wanted, names); ok {
		return meant
	}
	for _, last := range append([]string{wanted}, others[wanted]...) {
		i := slices.IndexFunc(names, func(name string) bool {
			return strings.EqualFold(name[strings.LastIndexByte(name, '.')+1:], last)
		})
		if i >= 0 {
			return names[i]
		}
	}
	return ""
}

// Short truncates s for a message.
func Short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
