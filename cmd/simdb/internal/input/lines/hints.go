package lines

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/simdb/simdb/query"
)

// shownNames is how many names of fields a message lists.
const shownNames = 10

// among lists names, and the one that may have been meant: ` (its fields are "a", "b"; did you mean
// "a"?)`.
func among(what string, names []string, wanted string) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" (" + what)
	for i, name := range names[:min(len(names), shownNames)] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + strconv.Quote(short(name)))
	}
	if more := len(names) - shownNames; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if meant, ok := query.Closest(wanted, names); ok {
		fmt.Fprintf(&b, "; did you mean %q?", meant)
	}
	b.WriteByte(')')
	return b.String()
}

// short cuts s for a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
