package main

import (
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"

	// The formats of inputs. Each package registers itself with package input, which says how to
	// add one.
	_ "github.com/simdb/simdb/cmd/simdb/internal/input/files"
	_ "github.com/simdb/simdb/cmd/simdb/internal/input/lines"
	_ "github.com/simdb/simdb/cmd/simdb/internal/input/parquet"
)

// formatNames lists the formats of inputs for help: "jsonl, csv or txt".
func formatNames() string {
	names := input.Formats()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
