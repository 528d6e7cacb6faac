package app

import (
	"cmp"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records/inputs"
)

// FileTag is the tag of flags and arguments that name files, so that all files can be checked
// before a command begins:
//
//	file:"db"      a database, which is read or written
//	file:"in"      an input; it may be a database too
//	file:"rows"    an output of rows in the format of its ending; by default standard output
//	file:"lines"   a copy of records of the input; by default standard output
//	file:"copies"  the same, or a folder, which ends in a slash and which the command checks
//	file:"rejects" invalid records of the input; by default it is beside the output, or nowhere
//	file:"jsonl"   an output of JSON lines
//	file:"html"    an output that is a page
//	file:"rule"    an output that is a rule of pairs
//	file:"table"   an output that is a table
const FileTag = "file"

// Declare registers the files that the command line reads and writes with Outputs. If an output
// would replace anything but an earlier output, it returns an error before any file is touched.
func (a *App) Declare(ctx *kong.Context) error {
	a.Outputs.UsesFile(os.Stdin, "standard input")
	values := FileValues(ctx.Selected())
	for _, v := range values {
		for _, path := range paths(v) {
			if path == "-" {
				continue
			}
			if path == "" && v.Flag == nil && v.Required {
				return fmt.Errorf("<%s> is empty: give the name of a file or database", v.Name)
			}
			switch v.Tag.Get(FileTag) {
			case "db":
				a.Outputs.Uses(path, "the database")
			case "in":
				a.Outputs.Uses(path, "an input file")
			}
		}
	}
	for _, v := range values {
		role := v.Tag.Get(FileTag)
		kind, output := OutputKind(ctx, role)
		if !output {
			continue
		}
		for _, path := range paths(v) {
			if path == "" && role != "rows" && role != "lines" && role != "copies" || role == "copies" && outfile.IsFolderName(path) {
				continue
			}
			if err := a.Outputs.Claim(FlagName(v), cmp.Or(path, "-"), kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// FileValues returns the arguments and flags of a command that name files.
func FileValues(n *kong.Node) []*kong.Value {
	var all []*kong.Value
	for ; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			all = append(all, f.Value)
		}
		all = append(all, n.Positional...)
	}
	files := all[:0]
	for _, v := range all {
		if v.Tag.Has(FileTag) {
			files = append(files, v)
		}
	}
	return files
}

// paths returns the paths that a flag or an argument was set to.
func paths(v *kong.Value) []string {
	switch p := v.Target.Interface().(type) {
	case string:
		return []string{p}
	case []string:
		return p
	}
	return nil
}

// OutputKind returns the kind of output that a file with this role is.
func OutputKind(ctx *kong.Context, role string) (kind outfile.Kind, output bool) {
	switch role {
	case "rows":
		for _, f := range ctx.Flags() {
			if f.Name == "format" && f.Set {
				return outfile.AnyRows.And(parquetEndings...), true
			}
		}
		return outfile.Rows.And(parquetEndings...), true
	case "lines", "copies", "rejects":
		return inputs.Copies(), true
	case "jsonl":
		return outfile.JSONLines, true
	case "html":
		return outfile.HTML, true
	case "rule":
		return outfile.Rule, true
	case "table":
		return outfile.Table, true
	}
	return kind, false
}

// FlagName returns a flag as users write it, or "" for an argument.
func FlagName(v *kong.Value) string {
	switch {
	case v.Flag == nil:
		return ""
	case v.Flag.Short != 0:
		return "-" + string(v.Flag.Short)
	}
	return "--" + v.Name
}

// Create begins to write the output of a flag. CleanUp removes it if it is not completed.
func (a *App) Create(flag, path string, kind outfile.Kind) (*outfile.Writer, error) {
	return a.Outputs.Create(a.Context(), flag, path, kind)
}
