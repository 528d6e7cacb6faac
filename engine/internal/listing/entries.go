package listing

import (
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/view"
)

// Each calls fn for every visible document that f selects, in any order, until fn returns an error.
// Each returns that error unless it is view.ErrStopped. id is reused after fn returns. In a table
// it scans the column of times, or the IDs in the parts of the ID order that overlap the bounds,
// and reads nothing else of documents that are not selected. With f.Where it reads the texts of the
// documents that the other conditions of f select, in storage order.
func Each(ctx context.Context, v *view.View, f Filter, fn func(id []byte, p view.Place) error) error {
	f.Life = v.Within(f.Since)
	err := v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			if err := eachOf(ctx, v, &v.Version.Parts[i], f, fn); err != nil {
				return err
			}
		}
		return f.eachMem(v, func(p view.Place) error {
			if !f.Has(&p.Mem.Document) || f.Before != 0 && p.Mem.Time >= f.Before {
				return nil
			}
			if ok, err := f.matches(p.Mem.ID); err != nil || !ok {
				return err
			}
			if f.Where != nil {
				if ok, err := f.Where(p.Mem.Text, p.Mem.Fields); err != nil || !ok {
					return err
				}
			}
			return fn(p.Mem.ID, p)
		})
	})
	if errors.Is(err, view.ErrStopped) {
		return nil
	}
	return err
}

// Count returns how many visible documents were stored at since, in microseconds, or later. If some
// may be older, or have expired, it reads columns of times; it reads no IDs.
func Count(ctx context.Context, v *view.View, since int64) (n int64, err error) {
	life := v.Within(since)
	err = v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			p := &v.Version.Parts[i]
			if p.Meta.MaxTime < life.Since {
				continue
			}
			dead, err := v.NoDocuments(ctx, p, v.Seq)
			if err != nil {
				return err
			}
			living, err := p.CountLiving(ctx, dead, life.Written())
			if err != nil {
				return err
			}
			n += living
		}
		return v.EachMem(func(p view.Place) error {
			if life.Has(&p.Mem.Document) {
				n++
			}
			return nil
		})
	})
	return n, err
}
