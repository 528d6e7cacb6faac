package dedup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// columns are the names of --columns.
type columns []string

// columnNames are the columns that there are.
var columnNames = []string{"cluster", "size", "keeper", "distance", "score"}

// UnmarshalText parses names with commas between them.
func (c *columns) UnmarshalText(text []byte) error {
	*c = nil
	for name := range strings.SplitSeq(string(text), ",") {
		switch {
		case !slices.Contains(columnNames, name):
			return fmt.Errorf("%q is none of the columns %s", name, strings.Join(columnNames, ", "))
		case slices.Contains(*c, name):
			return fmt.Errorf("the column %s comes twice", name)
		}
		*c = append(*c, name)
	}
	return nil
}

// String is the names as they are written.
func (c columns) String() string { return strings.Join(c, ",") }

// ofInput are the columns as copies get them.
func (c columns) ofInput() (all []input.Column) {
	for _, name := range c {
		kind := input.WholeColumn
		switch name {
		case "keeper":
			kind = input.TextColumn
		case "score":
			kind = input.RealColumn
		}
		all = append(all, input.Column{Name: name, Kind: kind})
	}
	return all
}
