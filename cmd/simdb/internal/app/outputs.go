package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
)

// Flags and arguments that name files have this tag, so that all of them can be checked before a
// command begins:
//
//	file:"db"      a database, which is read or written
//	file:"in"      an input; it may be a database too
//	file:"rows"    an output of rows in the format of its ending; by default standard output
//	file:"lines"   a copy of records of the input; by default standard output
//	file:"copies"  the same, or a folder, which ends in a slash and which the command checks
//	file:"rejects" what is no record of the input; by default it is beside the output, or nowhere
//	file:"jsonl"   an output of JSON lines
//	file:"html"    an output that is a page
//	file:"table"   an output that is a table
const FileTag = "file"

// Declare registers the files that the command line reads and writes with Outputs. It returns an
// error, and nothing has been touched, if an output would replace anything but an earlier output.
func (a *App) Declare(ctx *kong.Context) error {
	a.Outputs.UsesFile(os.Stdin, "standard input")
	values := FileValues(ctx.Selected())
	for _, v := range values {
		for _, path := range paths(v) {
			if path == "-" {
				continue
			}
			if path == "" && v.Flag == nil && v.Required {
				return fmt.Errorf("<%s> is empty, where the name of a file or database is expected", v.Name)
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
			if path == "" && role != "rows" && role != "lines" && role != "copies" || role == "copies" && IsFolderName(path) {
				continue
			}
			if err := a.Outputs.Claim(FlagName(v), cmp.Or(path, "-"), kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsFolderName reports whether the name of an output is that of a folder by its form.
func IsFolderName(path string) bool { return path != "" && os.IsPathSeparator(path[len(path)-1]) }

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

// paths returns what a flag or an argument was set to.
func paths(v *kong.Value) []string {
	switch p := v.Target.Interface().(type) {
	case string:
		return []string{p}
	case []string:
		return p
	}
	return nil
}

// OutputKind returns what is written to an output of this role.
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
		return copies(), true
	case "jsonl":
		return outfile.JSONLines, true
	case "html":
		return outfile.HTML, true
	case "table":
		return outfile.Table, true
	}
	return kind, false
}

// FlagName is a flag as users write it; an argument has none.
func FlagName(v *kong.Value) string {
	switch {
	case v.Flag == nil:
		return ""
	case v.Flag.Short != 0:
		return "-" + string(v.Flag.Short)
	}
	return "--" + v.Name
}

// Create begins to write the output of a flag. CleanUp removes it if it is never completed.
func (a *App) Create(flag, path string, kind outfile.Kind) (*outfile.Writer, error) {
	return a.Outputs.Create(a.Context(), flag, path, kind)
}

// OutFolder is the folder of -o DIR/, in which every input has an output of its name.
type OutFolder struct {
	a    *App
	Path string // as the user wrote it
	made bool
}

// NewOutFolder makes the folder for the outputs of these inputs, unless it is there, or only looks
// at it.
func (a *App) NewOutFolder(dir string, src *Sources, look bool) (*OutFolder, error) {
	switch {
	case src.Stored != nil:
		return nil, fmt.Errorf("-o %s: the input is one database: name a file", dir)
	case src.Tree != nil:
		return nil, fmt.Errorf("-o %s: with --files and --images the output is a list of paths: name a file", dir)
	case slices.Contains(src.Names, "-"):
		return nil, fmt.Errorf("-o %s: standard input has no name that its output could have", dir)
	}
	if what, err := engine.Identify(dir); err == nil && what != "" {
		return nil, fmt.Errorf("-o %s is %s", dir, what)
	}
	f := &OutFolder{a: a, Path: dir}
	st, err := os.Stat(filepath.Clean(dir))
	switch {
	case err == nil && !st.IsDir():
		return nil, fmt.Errorf("-o %s is no folder", dir)
	case err == nil || look:
		return f, nil
	}
	if err = os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-o %s: there is no folder %s", dir, filepath.Dir(filepath.Clean(dir)))
	} else if err != nil {
		return nil, fmt.Errorf("-o %s: %w", dir, outfile.Cause(err))
	}
	f.made = true
	return f, nil
}

// Undo removes the folder if it was made and is empty.
func (f *OutFolder) Undo() {
	if f.made {
		os.Remove(f.Path)
	}
}

// Place is where the output of an input goes.
func (f *OutFolder) Place(name string) string { return filepath.Join(f.Path, filepath.Base(name)) }

// Kind is what the output of an input holds. It may have the name of the input, whatever that says.
func (f *OutFolder) Kind(name string, format records.Format) outfile.Kind {
	return CopiesOf(format).And(strings.ToLower(filepath.Ext(outfile.PlainName(name))))
}

// Claim checks that the outputs of inputs of these names and formats may be written.
func (f *OutFolder) Claim(names []string, formats []records.Format) error {
	if err := f.Distinct(names); err != nil {
		return err
	}
	for i, name := range names {
		if formats[i].Unit() == records.UnitFile {
			return fmt.Errorf("-o %s: %s is one document, and the output a list of paths: name a file", f.Path, name)
		}
		if err := f.a.Outputs.Claim("-o", f.Place(name), f.Kind(name, formats[i])); err != nil {
			return err
		}
	}
	return nil
}

// OneOutput returns an error if records of two inputs cannot go into one output.
func OneOutput(a, b records.Info) error {
	switch {
	case a.Empty || b.Empty:
	case a.Format != b.Format || a.Shape != b.Shape:
		return fmt.Errorf("%s is %s and %s is %s: files of one run must have one format, as their %ss go into one output; -o DIR/ writes one for each",
			a.Name, a.Shape, b.Name, b.Shape, a.Format.Unit())
	case a.Columns != nil && b.Columns != nil && !bytes.Equal(bytes.TrimSpace(a.Columns), bytes.TrimSpace(b.Columns)):
		return fmt.Errorf("%s has other columns than the files before it; files of one run must have the same, or go to -o DIR/", b.Name)
	}
	return nil
}

// Distinct checks that no two inputs have outputs of one name, also where the file system does not
// tell upper from lower case.
func (f *OutFolder) Distinct(names []string) error {
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(filepath.Base(name))
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("-o %s: %s and %s would have one output", f.Path, other, name)
		}
		seen[folded] = name
	}
	return nil
}

// CopyOf is the kind of an output that copies records of an input.
func CopyOf(in records.Info) outfile.Kind {
	if in.Empty {
		return outfile.Lines
	}
	return CopiesOf(in.Format)
}

// CopiesOf is the kind of an output that copies records of this format.
func CopiesOf(f records.Format) outfile.Kind {
	d := f.Describe()
	if d.Whole {
		return outfile.WholeOf(d.Label, d.Endings...)
	}
	return outfile.LinesOf(d.Label, d.Endings...)
}

// copies is the kind of an output of records of an input whose format is not known yet.
func copies() outfile.Kind {
	var endings []string
	for _, name := range records.Formats() {
		endings = append(endings, records.Format(name).Describe().Endings...)
	}
	return outfile.Lines.And(endings...)
}
