package view

import (
	"context"
	"path/filepath"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Safely runs fn, which reads mapped files, unless the view is closed or the context has ended. A
// fault becomes an error: a page that can't be read, of a table that something else has cut short,
// or by a disk error.
//
// Methods of sstable.Reader guard themselves, and their errors are more precise. Safely is for what
// is read between them: IDs, texts and sketches alias the mapped files.
func (v *View) Safely(ctx context.Context, fn func() error) (err error) {
	if err := v.Usable(ctx); err != nil {
		return err
	}
	defer v.Unguard(vfs.Guard(), &err)
	return fn()
}

// Usable returns an error if the view is closed, damage has left it unknown which versions of some
// documents are the newest, or the context has ended.
func (v *View) Usable(ctx context.Context) error {
	if v.closed.Load() {
		return files.ErrClosed
	}
	if v.Doubt.Newer != nil {
		return v.Doubt.Newer
	}
	return ctx.Err()
}

// Unguard ends what vfs.Guard began, which returned before: it recovers from a fault and sets err
// to it. Deferred, it makes a function what Safely makes one that it calls.
func (v *View) Unguard(before bool, err *error) {
	vfs.Restore(before)
	if p := recover(); p != nil {
		*err = vfs.Error(p, v.blame)
	}
}

// blame returns the error for a fault: it names the table that is shorter than the catalog says, if
// one is.
func (v *View) blame(f vfs.Fault) error {
	for _, p := range v.Version.Parts {
		if p.Dir == nil { // a single table, which lies in no folder of ours
			continue
		}
		info, err := p.Dir.Stat(filepath.Base(p.Name)) // in a set the name has the folder
		if err != nil {
			return &base.CorruptionError{File: p.Name, Section: "file", Offset: -1, Err: err}
		}
		if info.Size < p.Meta.Size {
			return base.Corruptf(p.Name, "file", info.Size, "cut short: %d bytes of %d: %w", info.Size, p.Meta.Size, f)
		}
	}
	return base.Corruptf(v.Path, "file", -1, "a mapped page can't be read: %w", f)
}
