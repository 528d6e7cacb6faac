package inputs

import (
	"bytes"
	"fmt"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
)

// OneOutput returns an error if records of two inputs cannot go into one output.
func OneOutput(a, b records.Info) error {
	switch {
	case a.Empty || b.Empty:
	case a.Format != b.Format || a.Shape != b.Shape:
		return fmt.Errorf("%s is %s and %s is %s: files of one run must have one format, because their %ss go into one output; %s DIR/ writes one output for each file",
			a.Name, a.Shape, b.Name, b.Shape, a.Format.Unit(), option.Name("Output"))
	case a.Columns != nil && b.Columns != nil && !bytes.Equal(bytes.TrimSpace(a.Columns), bytes.TrimSpace(b.Columns)):
		return fmt.Errorf("%s has other columns than the files before it; files of one run need the same columns, or the output %s DIR/", b.Name, option.Name("Output"))
	}
	return nil
}

// CopyOf returns the kind of an output that copies records of an input.
func CopyOf(in records.Info) OutputKind {
	if in.Empty {
		return outfile.Lines
	}
	return CopiesOf(in.Format)
}

// CopiesOf returns the kind of an output that copies records of this format.
func CopiesOf(f records.Format) OutputKind {
	d := f.Describe()
	if d.Whole {
		return outfile.WholeOf(d.Label, d.Endings...)
	}
	return outfile.LinesOf(d.Label, d.Endings...)
}

// Copies returns the kind of an output for copies of records whose format is not known yet.
func Copies() OutputKind {
	var endings []string
	for _, name := range records.Formats() {
		endings = append(endings, records.Format(name).Describe().Endings...)
	}
	return outfile.Lines.And(endings...)
}
