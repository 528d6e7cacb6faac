package records

import (
	"fmt"
	"slices"
)

// Extender is a Source whose records can be copied with additional columns.
type Extender interface {
	// CanExtend returns an error if copies of records cannot have these columns.
	CanExtend(columns []Column) error
}

// CanExtend returns an error if copies of the records of src cannot have these columns. A file with
// a header must have been read up to its first record.
func CanExtend(src Source, columns []Column) error {
	if e, ok := ownSource(src).(Extender); ok {
		return e.CanExtend(columns)
	}
	return NotExtended(src)
}

// NotExtended is the error of CanExtend for a format whose records have no columns.
func NotExtended(src Source) error {
	return fmt.Errorf("%s is %s, to which no columns can be added; JSON lines, JSON, CSV, TSV and Parquet accept them", src.Info().Name, src.Info().Format.Describe().Label)
}

// Clash returns an error if a column has the name of a column of the file.
func Clash(file string, columns []Column, names []string) error {
	for _, c := range columns {
		if slices.Contains(names, c.Name) {
			return fmt.Errorf("%s has a column %q already", file, c.Name)
		}
	}
	return nil
}
