package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// CheckReport is the result of Check.
type CheckReport struct {
	Tables, Documents int64
	Bytes             int64
	Problems          []error          // mostly *CorruptionError; empty if the database is sound
	Orphans           map[string]int64 // as in Stats
}

// Check verifies all stored data: every checksum of every table, the consistency of its sections,
// the catalog, and the logs. It continues after a problem and reports all problems; it returns an
// error only if it could not finish checking. progress may be nil.
func (db *DB) Check(ctx context.Context, progress func(Progress)) (CheckReport, error) {
	return read(ctx, &db.Reader, func(s *Snapshot) (CheckReport, error) { return check(ctx, db.s, &s.v, progressTo(progress)) })
}

// check verifies everything that a view sees, and looks for orphans in the folder. Merges leave out
// tables that it finds damaged.
func check(ctx context.Context, s *store.Store, v *view.View, progress func(view.Progress)) (r CheckReport, err error) {
	r.Orphans = map[string]int64{}
	err = v.Verify(ctx, "check", progress, func(p *view.Part, damage error) error {
		if damage != nil {
			r.Problems = append(r.Problems, damage)
			s.SetApart(p, damage)
		}
		r.Tables++
		r.Bytes += p.Meta.Size
		none, err := v.NoDocuments(ctx, p, v.Seq)
		if err != nil {
			r.Problems = append(r.Problems, err)
			return nil
		}
		r.Documents += int64(p.Meta.Docs) - int64(none.GetCardinality())
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Problems = append(r.Problems, duplicateIDs(ctx, v)...)
	problems, err := checkCatalog(v.Dir)
	if err != nil {
		return r, err
	}
	r.Problems = append(r.Problems, problems...)
	err = eachFile(v.Dir, func(name string, size int64) {
		if strings.HasSuffix(name, files.OrphanSuffix) {
			r.Orphans[name] = size
		}
	})
	if err != nil {
		return r, err
	}
	v.EachMem(func(view.Place) error { r.Documents++; return nil }) // their logs were verified when they were read
	return r, ctx.Err()
}

// checkCatalog checks the catalog file in dir, which is nil for a single table file. A writer in
// another process may change the file at any time; then checkCatalog reads it again.
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
		return nil, nil // a writer commits faster than this reads, and it verifies the catalog itself
	}
	return nil, err
}

// catalogLooks is how many times to read a catalog that seems damaged: another process may be
// writing it.
const catalogLooks = 5

// duplicateIDs checks that no ID is alive in two tables. Verifying a table has already checked that
// no ID is in it twice.
func duplicateIDs(ctx context.Context, v *view.View) (problems []error) {
	parts := v.Version.Parts
	for i := range parts {
		for j := range i {
			earlier, p := &parts[j], &parts[i]
			err := v.Safely(ctx, func() error {
				return table.EachCommonID(earlier.Reader, p.Reader, func(other, doc uint32) error {
					if earlier.Dead.DeadAt(other, v.Seq) || p.Dead.DeadAt(doc, v.Seq) {
						return nil
					}
					id, err := p.ID(doc)
					problems = append(problems, &base.CorruptionError{File: p.Name, Section: "ids", Offset: -1,
						Err: fmt.Errorf("document %s is stored in two places", files.QuoteID(string(id)))})
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
