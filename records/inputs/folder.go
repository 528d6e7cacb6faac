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
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
)

// OutFolder is an output folder with one output for each input, of the same name.
type OutFolder struct {
	env    *Env
	Path   string            // as the user wrote it
	made   []string          // folders that this run has created
	places map[string]string // by input: the path of its output in the folder
}

// Places returns where the output of each input stands in an output folder: under the input's
// name, or, if inputs stand in several folders, and two have one name or a folder is a partition
// such as year=2024, under its path below the deepest folder that all inputs share and that is no
// partition or is the working directory.
func Places(names []string) map[string]string {
	places, seen, nested, several := map[string]string{}, map[string]bool{}, false, false
	partition := func(folders []string) bool { return len(folders) > 0 && strings.Contains(folders[len(folders)-1], "=") }
	folders := func(name string) []string {
		if abs, err := filepath.Abs(name); err == nil {
			name = abs
		}
		return strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
	}
	var common []string
	for i, name := range names {
		of, base := folders(name), filepath.Base(name)
		places[name] = base
		nested = nested || seen[strings.ToLower(base)] || partition(of)
		seen[strings.ToLower(base)] = true
		if i == 0 {
			common = of
		}
		n := 0
		for n < min(len(common), len(of)) && common[n] == of[n] {
			n++
		}
		several = several || n < max(len(common), len(of))
		common = common[:n]
	}
	if !nested || !several {
		return places
	}
	for here := folders("x"); partition(common) && !slices.Equal(common, here); {
		common = common[:len(common)-1]
	}
	for name, base := range places {
		places[name] = filepath.Join(filepath.Join(folders(name)[len(common):]...), base)
	}
	return places
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
	f := &OutFolder{env: e, Path: dir, places: e.Places}
	if f.places == nil {
		f.places = Places(src.Names)
	}
	e.folder = f
	if place.IsRemote(dir) { // a store has no folders
		return f, nil
	}
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
	f.made = []string{dir}
	return f, nil
}

// Undo removes the folders that this run has created, if they are empty.
func (f *OutFolder) Undo() {
	for _, dir := range slices.Backward(f.made) {
		os.Remove(dir)
	}
}

// Place returns the path of an input's output.
func (f *OutFolder) Place(name string) string { return place.Join(f.Path, f.places[name]) }

// MakeParents creates the folders in which the outputs of some inputs stand. It refuses symbolic
// links, which may lead elsewhere.
func (f *OutFolder) MakeParents(names []string) error {
	if place.IsRemote(f.Path) {
		return nil
	}
	for _, name := range names {
		dir, parts := f.Path, strings.Split(filepath.ToSlash(f.places[name]), "/")
		for _, part := range parts[:len(parts)-1] {
			dir = filepath.Join(dir, part)
			err := os.Mkdir(dir, 0o777)
			if st, failed := os.Lstat(dir); failed != nil || !st.IsDir() {
				return fmt.Errorf("%s cannot become a folder: %w", option.Set("Output", dir), outfile.Cause(err))
			}
			if err == nil {
				f.made = append(f.made, dir)
			}
		}
	}
	return nil
}

// Kind returns the kind of an input's output. The output may have the input's name, whatever its
// extension.
func (f *OutFolder) Kind(name string, format records.Format) OutputKind {
	return CopiesOf(format).And(strings.ToLower(filepath.Ext(outfile.PlainName(name))))
}

// Claim checks that the outputs of inputs with these names and formats may be written.
func (f *OutFolder) Claim(names []string, formats []records.Format) error {
	err := f.Distinct(names)
	if err == nil {
		err = f.MakeParents(names)
	}
	if err != nil {
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

// Distinct checks that all outputs are in the folder, and that no two inputs have outputs with the
// same path, ignoring case, as some file systems do.
func (f *OutFolder) Distinct(names []string) error {
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(f.places[name])
		if !filepath.IsLocal(f.places[name]) {
			return fmt.Errorf("%s: %s has no folder in common with the other inputs: deduplicate copies in one folder", option.Set("Output", f.Path), name)
		}
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("%s: %s and %s would have the same output", option.Set("Output", f.Path), other, name)
		}
		seen[folded] = name
	}
	return nil
}
