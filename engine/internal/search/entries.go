package search

import (
	"context"
	"errors"

	"github.com/simdb/simdb/engine/internal/view"
)

// Each calls fn for every visible document that f selects, as they are found, until it returns an
// error, which Each returns unless it is view.ErrStopped. id is used again after fn. Of a table it
// looks through the column of times, or at the IDs of the parts of its order that may have the
// prefix, and reads nothing of other documents. With f.Where it reads the texts of the documents
// that f selects otherwise, in the order in which they lie.
func Each(ctx context.Context, v *view.View, f Filter, fn func(id []byte, p view.Place) error) error {
	f.Since = max(f.Since, v.Since)
	err := v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			if err := eachOf(ctx, v, &v.Version.Parts[i], f, fn); err != nil {
				return err
			}
		}
		return v.EachMem(func(p view.Place) error {
			if p.Mem.Time < f.Since {
				return nil
			}
			if ok, err := f.matches(p.Mem.ID); err != nil || !ok {
				return err
			}
			if ok, err := f.Where.mem(p.Mem); err != nil || !ok {
				return err
			}
			return fn(p.Mem.ID, p)
		})
	})
	if errors.Is(err, view.ErrStopped) {
		return nil
	}
	return err
}

// eachOf is Each for a table; f.Since is at least that of the view.
func eachOf(ctx context.Context, v *view.View, p *view.Part, f Filter, fn func(id []byte, p view.Place) error) error {
	if f.Where != nil {
		return eachWhere(ctx, v, p, f, func(doc uint32, id []byte) error { return fn(id, view.Place{Part: p, Doc: doc}) })
	}
	give := func(doc uint32, id []byte) error {
		if ok, err := f.matches(id); err != nil || !ok {
			return err
		}
		ok, err := p.AliveAt(doc, v.Seq, f.Since)
		if err == nil && ok {
			err = fn(id, view.Place{Part: p, Doc: doc})
		}
		return err
	}
	if f.Prefix != "" {
		order, err := p.IDOrder()
		if err != nil {
			return err
		}
		for part, end := order.Range([]byte(f.Prefix)); part < end && err == nil; part++ {
			err = order.EachID(ctx, part, give)
		}
		return err
	}
	return p.EachWrittenID(ctx, view.Stored(f.Since), func(doc uint32, id []byte) error {
		if p.Dead.DeadAt(doc, v.Seq) {
			return nil
		}
		if ok, err := f.matches(id); err != nil || !ok {
			return err
		}
		return fn(id, view.Place{Part: p, Doc: doc})
	})
}

func hasPrefix(id []byte, prefix string) bool {
	return len(id) >= len(prefix) && string(id[:len(prefix)]) == prefix
}

// Count returns how many visible documents were stored at since, in microseconds, or later. Where
// some may be older, or have expired, it reads columns of times; it reads no ID.
func Count(ctx context.Context, v *view.View, since int64) (n int64, err error) {
	since = max(since, v.Since)
	err = v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			p := &v.Version.Parts[i]
			if p.Meta.MaxTime < since {
				continue
			}
			dead, _ := p.Dead.UpTo(v.Seq)
			living, err := p.CountLiving(ctx, dead, view.Stored(since))
			if err != nil {
				return err
			}
			n += living
		}
		return v.EachMem(func(p view.Place) error {
			if p.Mem.Time >= since {
				n++
			}
			return nil
		})
	})
	return n, err
}
