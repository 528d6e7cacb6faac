package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// CheckReport is what Check found.
type CheckReport struct {
	Tables, Documents int64
	Bytes             int64
	Problems          []error // *CorruptionError mostly; empty when all is well
	Orphans           []OrphanStats
}

// Check verifies everything that is stored: every checksum of every table, the agreement of its
// sections with each other, the catalog, and the logs. It continues after a problem and reports
// all that it finds; the error says what kept it from checking.
func (db *DB) Check(ctx context.Context, progress ...func(Progress)) (CheckReport, error) {
	return withSnapshot(db, func(s *Snapshot) (CheckReport, error) { return check(ctx, &s.v, progressTo(progress...)) })
}

// check checks everything that a view sees, and whatever else is in the folder.
func check(ctx context.Context, v *view.View, progress func(view.Progress)) (r CheckReport, err error) {
	var done, total int64
	for _, p := range v.Version.Parts {
		total += p.Meta.Size
	}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		err := v.Safely(ctx, func() error {
			return p.Verify(ctx, func(n, of int64) {
				if progress != nil && of > 0 { // bytes are looked at more than once
					n = int64(float64(n) / float64(of) * float64(p.Meta.Size))
					progress(view.Progress{Stage: "check", Done: done + n, Total: total, Unit: "bytes"})
				}
			})
		})
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			r.Problems = append(r.Problems, err)
		}
		done += p.Meta.Size
		r.Tables++
		none, err := v.NoDocuments(ctx, p, v.Seq)
		if err != nil {
			r.Problems = append(r.Problems, err)
		} else {
			r.Documents += int64(p.Meta.Docs) - int64(none.GetCardinality())
		}
		r.Bytes += p.Meta.Size
	}
	r.Problems = append(r.Problems, duplicateIDs(ctx, v)...)
	problems, err := checkCatalog(v.Dir)
	if err != nil {
		return r, err
	}
	r.Problems = append(r.Problems, problems...)
	err = eachFile(v.Dir, func(name string, size int64) {
		if strings.HasSuffix(name, files.OrphanSuffix) {
			r.Orphans = append(r.Orphans, OrphanStats{name, size})
		}
	})
	if err != nil {
		return r, err
	}
	for _, m := range v.Mems { // their logs were verified as they were read
		for _, d := range m.Docs {
			if _, code := view.Owner(d.ID); !code && v.MemAlive(d) {
				r.Documents++
			}
		}
	}
	return r, ctx.Err()
}

// checkCatalog checks the file of the catalog in dir, nil for a single table file. A writer in
// another process may change it at any time; it is looked at again then.
func checkCatalog(dir *files.Folder) (problems []error, err error) {
	if dir == nil {
		return nil, nil
	}
	for range catalogLooks {
		if _, _, err = catalog.Read(dir, files.Catalog); err == nil {
			break
		}
	}
	switch {
	case errors.Is(err, base.ErrCorruption):
		return []error{err}, nil
	case errors.Is(err, catalog.ErrMoved):
		return nil, nil // the writer, which commits faster than this reads, reads the catalog itself
	}
	return nil, err
}

// catalogLooks is how often a catalog is looked at that seems to be damaged: it may be written
// meanwhile.
const catalogLooks = 5

// duplicateIDs checks that no ID is alive in two tables. That none is twice in one has been
// verified with the table.
func duplicateIDs(ctx context.Context, v *view.View) (problems []error) {
	parts := v.Version.Parts
	for i := range parts {
		for j := range i {
			earlier, p := &parts[j], &parts[i]
			err := v.Safely(ctx, func() error {
				return sstable.EachCommonID(earlier.Reader, p.Reader, func(other, doc uint32) error {
					if earlier.Dead.DeadAt(other, v.Seq) || p.Dead.DeadAt(doc, v.Seq) {
						return nil
					}
					id, err := p.ID(doc)
					problems = append(problems, &base.CorruptionError{File: p.Name, Section: "ids", Offset: -1,
						Err: fmt.Errorf("document %s is alive in two places", files.QuoteID(string(id)))})
					return err
				})
			})
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return append(problems, err)
			}
		}
	}
	return problems
}
