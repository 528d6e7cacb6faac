package flags

import (
	"strings"

	"github.com/simdb/simdb/records"

	// The formats of inputs. Each package registers itself with package records, which says how to
	// add one.
	_ "github.com/simdb/simdb/records/files"
	_ "github.com/simdb/simdb/records/lines"
	_ "github.com/simdb/simdb/records/parquet"
)

// formatNames returns the formats of inputs for help: "jsonl, csv or txt".
func formatNames() string {
	names := records.Formats()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
