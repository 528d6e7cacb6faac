package hamming

import "github.com/simdb/simdb/sstable/internal/keyrun"

// prefetch asks for what the scan of p begins with, which is not spanned.
func (t *permuted) prefetch(p *keyrun.Probe) {
	var r keyrun.Range
	t.run.SetRange(&r, p, t.rest)
	r.Prefetch(t.ahead)
}

// rangeCost is what a probe of a range costs that has been looked up.
func (t *permuted) rangeCost(r *keyrun.Probe) float64 {
	if r.Exact {
		return cost.probe + float64(r.To-r.From)*cost.key
	}
	if r.To <= r.From+1 {
		return t.probe
	}
	return cost.probe + float64((r.To-r.From)*keyrun.BlockLen)*cost.key
}
