package dedup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
)

// toFolder reports whether every input has an output of its own: the name of -o ends as that of a
// folder.
func (c *Command) toFolder() bool { return app.IsFolderName(c.Output) }

// makeFolder makes the folder of the outputs, unless it is there. The function that it returns
// removes what was made if the run fails.
func (d *job) makeFolder() (unmake func(err error), err error) {
	keep := func(error) {}
	if !d.c.toFolder() {
		return keep, nil
	}
	dir := d.c.Output
	switch {
	case d.src.Tree != nil:
		return nil, fmt.Errorf("-o %s: with --files the output is a list of paths: name a file", dir)
	case slices.Contains(d.names, "-"):
		return nil, fmt.Errorf("-o %s: standard input has no name that its output could have", dir)
	}
	if what, err := engine.Identify(dir); err == nil && what != "" {
		return nil, fmt.Errorf("-o %s is %s", dir, what)
	}
	st, err := os.Stat(filepath.Clean(dir))
	switch {
	case err == nil && !st.IsDir():
		return nil, fmt.Errorf("-o %s is no folder", dir)
	case err == nil || d.c.DryRun:
		return keep, nil
	}
	if err = os.Mkdir(dir, 0o777); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-o %s: there is no folder %s", dir, filepath.Dir(filepath.Clean(dir)))
	} else if err != nil {
		return nil, fmt.Errorf("-o %w", err)
	}
	return func(err error) {
		if err == nil {
			return
		}
		for _, w := range append(d.keepTo, d.auditTo, d.clustersTo) {
			if w != nil {
				w.Abort()
			}
		}
		os.Remove(dir) // unless there is something in it
	}, nil
}

// inFolder is where the output of input i goes.
func (d *job) inFolder(i int) string { return filepath.Join(d.c.Output, filepath.Base(d.names[i])) }

// claimFolder checks that the outputs may be written. No two inputs may have one name, also where
// the file system does not tell upper from lower case.
func (d *job) claimFolder() error {
	seen := map[string]string{}
	for i, name := range d.names {
		folded := strings.ToLower(filepath.Base(name))
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("-o %s: %s and %s would have one output", d.c.Output, other, name)
		}
		seen[folded] = name
		if d.c.DryRun {
			continue
		}
		if err := d.a.Outputs.Claim("-o", d.inFolder(i), app.CopiesOf(d.formats[i])); err != nil {
			return err
		}
	}
	if _, ok := seen["audit.jsonl"]; ok && d.c.auditPath() == filepath.Join(d.c.Output, "audit.jsonl") {
		return errors.New("-o " + d.c.Output + ": an input is called audit.jsonl, as the audit: --audit FILE names another place for that")
	}
	return nil
}
