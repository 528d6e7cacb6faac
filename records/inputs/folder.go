package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
)

// OutFolder is an output folder with one output for each input, of the same name.
type OutFolder struct {
	env  *Env
	Path string // as the user wrote it
	made bool
}

// NewOutFolder creates the output folder for these inputs unless it exists. With look it creates
// nothing.
func (e *Env) NewOutFolder(dir string, src *Sources, look bool) (*OutFolder, error) {
	switch {
	case src.Stored != nil:
		return nil, fmt.Errorf("%s: the input is one database: name a file", option.Set("Output", dir))
	case src.Tree != nil:
		return nil, fmt.Errorf("%s: with %s and %s the output is a list of paths: name a file", option.Set("Output", dir), option.Name("Files"), option.Name("Images"))
	case slices.Contains(src.Names, "-"):
		return nil, fmt.Errorf("%s: standard input has no name for its output", option.Set("Output", dir))
	}
	if what, err := engine.Identifier()(dir); err == nil && what != "" {
		return nil, fmt.Errorf("%s is %s", option.Set("Output", dir), what)
	}
	f := &OutFolder{env: e, Path: dir}
	st, err := os.Stat(filepath.Clean(dir))
	switch {
	case err == nil && !st.IsDir():
		return nil, fmt.Errorf("%s is not a folder", option.Set("Output", dir))
	case err == nil || look:
		return f, nil
	}
	if err = os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no folder %s", option.Set("Output", dir), filepath.Dir(filepath.Clean(dir)))
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", option.Set("Output", dir), outfile.Cause(err))
	}
	f.made = true
	return f, nil
}

// Undo removes the folder if NewOutFolder has created it and it is empty.
func (f *OutFolder) Undo() {
	if f.made {
		os.Remove(f.Path)
	}
}

// Place returns the path of an input's output.
func (f *OutFolder) Place(name string) string { return filepath.Join(f.Path, filepath.Base(name)) }

// Kind returns the kind of an input's output. The output may have the input's name, whatever its
// extension.
func (f *OutFolder) Kind(name string, format records.Format) OutputKind {
	return CopiesOf(format).And(strings.ToLower(filepath.Ext(outfile.PlainName(name))))
}

// Claim checks that the outputs of inputs with these names and formats may be written.
func (f *OutFolder) Claim(names []string, formats []records.Format) error {
	if err := f.Distinct(names); err != nil {
		return err
	}
	for i, name := range names {
		if formats[i].Unit() == records.UnitFile {
			return fmt.Errorf("%s: %s is one document, and the output is a list of paths: name a file", option.Set("Output", f.Path), name)
		}
		if err := f.env.Claim(option.Name("Output"), f.Place(name), f.Kind(name, formats[i])); err != nil {
			return err
		}
	}
	return nil
}

// Distinct checks that no two inputs have outputs with the same name, ignoring case, as some file
// systems do.
func (f *OutFolder) Distinct(names []string) error {
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(filepath.Base(name))
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("%s: %s and %s would have the same output", option.Set("Output", f.Path), other, name)
		}
		seen[folded] = name
	}
	return nil
}
