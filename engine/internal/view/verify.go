package view

import "context"

// Verify verifies each table of the view and calls found with it and its damage, nil if there is
// none. It stops at the first error of found and of ctx, and returns it. progress may be nil.
func (v *View) Verify(ctx context.Context, stage string, progress func(Progress), found func(p *Part, damage error) error) error {
	var done, total int64
	for _, p := range v.Version.Parts {
		total += p.Meta.Size
	}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		damage := v.Safely(ctx, func() error {
			return p.Table.Verify(ctx, func(n, all int64) {
				if progress != nil && all > 0 { // some bytes are read more than once
					n = int64(float64(n) / float64(all) * float64(p.Meta.Size))
					progress(Progress{Stage: stage, Done: done + n, Total: total, Unit: "bytes"})
				}
			})
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := found(p, damage); err != nil {
			return err
		}
		done += p.Meta.Size
	}
	return nil
}
