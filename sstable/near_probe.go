package sstable

// leadProbe is a range of a table's run: the keys with one lead. If the lead index has it, it is spanned: it lies at positions [from, to) of the
// run. Else from and to are the numbers of blocks whose first key is less than that of the range, and not greater than its last.
type leadProbe struct {
	first       uint64 // the least key with the lead
	from, to    uint32
	table, dist uint8 // of which shell it is
	spanned     bool
}

// look looks up probes, and returns how many keys those have that are spanned. Hot ranges are always looked up in the directory: what they
// hold has to be found out.
func (t *permuted) look(probes []leadProbe) (keys int) {
	l := &t.run.leads
	if len(l.words) == 0 {
		for i := range probes {
			t.find(&probes[i])
		}
		return 0
	}
	words, bases, shift, part := l.words, l.bases, uint(l.shift)&63, uint(l.part)&63
	for i := range probes {
		p := &probes[i]
		u := p.first >> shift
		w := words[u>>1:][:2]
		two := (uint64(w[0].Load()) | uint64(w[1].Load())<<32) >> (u & 1 * 16)
		first, end := uint32(two)&0xffff, uint32(two>>16)&0xffff
		from, to := bases[u>>part]+first, bases[(u+1)>>part]+end
		if first == 0 || end == 0 || to-from > t.most {
			t.find(p)
			continue
		}
		p.from, p.to, p.spanned = from, to, true
		keys += int(to - from)
	}
	t.run.touchBlocks(probes)
	return keys
}

// find looks p up in the directory.
func (t *permuted) find(p *leadProbe) {
	t.findFrom(p, t.run.window(p.first))
}

// findFrom is find for callers that know the window of the directory for p.
func (t *permuted) findFrom(p *leadProbe, window int) {
	block, end := t.run.blockRangeFrom(window, p.first, p.first|t.rest)
	p.from, p.to, p.spanned = uint32(block), uint32(end), false
}

// prefetch asks for what the scan of p begins with, which is not spanned.
func (t *permuted) prefetch(p *leadProbe) {
	var r keyRange
	t.setRange(&r, p)
	r.prefetch(t.ahead)
}

// setRange makes r the range of p, which is not spanned. (To copy a range whole would be to wait for its parts.)
func (t *permuted) setRange(r *keyRange, p *leadProbe) {
	r.run, r.first, r.last, r.block, r.end = t.run, p.first, p.first|t.rest, p.from, p.to
}

// rangeCost is what a probe of a range costs that has been looked up.
func (t *permuted) rangeCost(r *leadProbe) float64 {
	if r.spanned {
		return cost.probe + float64(r.to-r.from)*cost.key
	}
	if r.to <= r.from+1 {
		return t.probe
	}
	return cost.probe + float64((r.to-r.from)*blockKeys)*cost.key
}
