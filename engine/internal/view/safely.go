package view

import (
	"context"
	"path/filepath"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Safely runs fn, which reads mapped files, unless the view is closed or the context has ended. It
// turns a fault into an error: a page cannot be read because another process has shortened the
// file, or because of a disk error.
//
// Methods of table.Reader guard themselves, and their errors are more precise. Safely guards
// reads between them: IDs, texts and sketches alias the mapped files.
func (v *View) Safely(ctx context.Context, fn func() error) (err error) {
	if err := v.Usable(ctx); err != nil {
		return err
	}
	defer v.Unguard(vfs.Guard(), &err)
	return fn()
}

// Usable returns an error if the view is closed, if damage hides which versions of some documents
// are the newest, or if the context has ended.
func (v *View) Usable(ctx context.Context) error {
	if v.closed.Load() {
		return files.ErrClosed
	}
	if v.Doubt.Newer != nil {
		return v.Doubt.Newer
	}
	return ctx.Err()
}

// Unguard ends the guard that vfs.Guard began; before is the result of vfs.Guard. It recovers from
// a fault and sets err. Deferring it guards a function as Safely guards its argument.
func (v *View) Unguard(before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = vfs.Error(p, v.blame)
	}
}

// blame returns the error for a fault. It names the table that is shorter than the catalog says, if
// there is one.
func (v *View) blame(f vfs.Fault) error {
	for _, p := range v.Version.Parts {
		if p.Dir == nil { // a single table, outside of any database folder
			continue
		}
		info, err := p.Dir.Stat(filepath.Base(p.Name)) // in a set, the name includes the folder
		if err != nil {
			return &base.CorruptionError{File: p.Name, Section: "file", Offset: -1, Err: err}
		}
		if info.Size < p.Meta.Size {
			return base.Corruptf(p.Name, "file", info.Size, "cut short: %d bytes of %d: %w", info.Size, p.Meta.Size, f)
		}
	}
	return base.Corruptf(v.Path, "file", -1, "a mapped page can't be read: %w", f)
}
