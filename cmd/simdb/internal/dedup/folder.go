package dedup

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
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
	if d.folder, err = d.a.NewOutFolder(d.c.Output, d.Sources, d.c.DryRun); err != nil {
		return nil, err
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
		d.folder.Undo()
	}, nil
}

// claimFolder checks that the outputs may be written.
func (d *job) claimFolder() error {
	check := func() error { return d.folder.Claim(d.Names, d.formats) }
	if d.c.DryRun {
		check = func() error { return d.folder.Distinct(d.Names) }
	}
	if err := check(); err != nil {
		return err
	}
	isAudit := func(name string) bool { return strings.EqualFold(filepath.Base(name), "audit.jsonl") }
	if slices.ContainsFunc(d.Names, isAudit) && d.c.auditPath() == filepath.Join(d.c.Output, "audit.jsonl") {
		return errors.New("-o " + d.c.Output + ": an input is called audit.jsonl, as the audit: --audit FILE names another place for that")
	}
	return nil
}
