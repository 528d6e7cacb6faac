package search

import (
	"bytes"
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/rows"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// firstPage is how many entries are put in order before the first is given.
const FirstPage = 1024

// EachEntryInOrder calls fn for every visible document whose ID starts with prefix, in order of ID,
// until it returns false. It finds them page by page, each page in one walk over all documents: the
// first page of first entries, later ones of others.
func EachEntryInOrder(ctx context.Context, v *view.View, prefix string, first, others int, fn func(view.Entry) bool) error {
	var last string
	for length := min(first, others); ; length = others {
		var found *ordered.Runs[named]
		var more bool
		err := v.Safely(ctx, func() (err error) {
			found, more, err = page(ctx, v, prefix, last, length)
			return err
		})
		for err == nil {
			n, ok := found.Next()
			if !ok {
				break
			}
			var e view.Entry
			if err = v.Safely(ctx, func() (err error) { e, err = n.Entry(); return err }); err == nil {
				if last = e.ID; !fn(e) {
					return nil
				}
			}
		}
		if err != nil || !more {
			return err
		}
	}
}

// EachEntry calls fn for every visible document whose ID starts with prefix, in the order of
// places, until it returns false.
func EachEntry(ctx context.Context, v *view.View, prefix string, fn func(view.Entry) bool) error {
	err := v.Safely(ctx, func() error {
		return v.Each(ctx, func(p view.Place) error {
			id, err := p.ID()
			if err != nil || !hasPrefix(id, prefix) {
				return err
			}
			e, err := p.Entry()
			if err == nil && !fn(e) {
				err = rows.ErrStopped
			}
			return err
		})
	})
	if errors.Is(err, rows.ErrStopped) {
		return nil
	}
	return err
}

// A named place is a place with its document's ID, which aliases it.
type named struct {
	id []byte
	view.Place
}

// page returns the first length visible documents whose IDs start with prefix and follow after (no
// ID is empty), in order of ID, and whether there are more.
func page(ctx context.Context, v *view.View, prefix, after string, length int) (*ordered.Runs[named], bool, error) {
	found := ordered.Limited[named]{Most: length, Compare: func(a, b named) int { return bytes.Compare(a.id, b.id) }}
	err := v.Each(ctx, func(p view.Place) error {
		id, err := p.ID()
		if err == nil && hasPrefix(id, prefix) && string(id) > after {
			found.Add(named{id, p})
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return found.Sorted(ctx)
}

func hasPrefix(id []byte, prefix string) bool {
	return len(id) >= len(prefix) && string(id[:len(prefix)]) == prefix
}

// Count returns how many visible documents there are. Where some may have expired it reads columns
// of times; it reads no ID.
func Count(ctx context.Context, v *view.View) (n int64, err error) {
	err = v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			p := &v.Version.Parts[i]
			if p.Meta.MaxTime < v.Since {
				continue
			}
			dead, _ := p.Dead.UpTo(v.Seq)
			living, err := p.CountLiving(ctx, dead, view.Stored(v.Since))
			if err != nil {
				return err
			}
			n += living
		}
		return v.EachMem(func(view.Place) error { n++; return nil })
	})
	return n, err
}
