package keyrun

// LocateAll fills in probes from the lead index, or from the directory where the index has no
// entry. It returns the number of keys of the exact ones. A range of more than most keys is always
// looked up in the directory, because its cost has to be estimated from its blocks.
func (r *Run) LocateAll(probes []Probe, rest uint64, most uint32) (keys int) {
	l := &r.leads
	if len(l.words) == 0 {
		for i := range probes {
			r.Locate(&probes[i], rest)
		}
		return 0
	}
	words, bases, shift, part := l.words, l.bases, uint(l.shift)&63, uint(l.part)&63
	for i := range probes {
		p := &probes[i]
		u := p.First >> shift
		w := words[u>>1:][:2]
		two := (uint64(w[0].Load()) | uint64(w[1].Load())<<32) >> (u & 1 * 16)
		first, end := uint32(two)&0xffff, uint32(two>>16)&0xffff
		from, to := bases[u>>part]+first, bases[(u+1)>>part]+end
		if first == 0 || end == 0 || to-from > most {
			r.Locate(p, rest)
			continue
		}
		p.From, p.To, p.Exact = from, to, true
		keys += int(to - from)
	}
	r.prefetchBlocks(probes)
	return keys
}

// LocateLead fills in p from the lead index, if it has an entry and the range has at most `most` keys,
// and reports whether it did.
func (r *Run) LocateLead(p *Probe, most uint32) bool {
	l := &r.leads
	u := p.First >> (uint(l.shift) & 63)
	if u>>1+1 >= uint64(len(l.words)) {
		return false // there is no index
	}
	w := l.words[u>>1:][:2]
	two := (uint64(w[0].Load()) | uint64(w[1].Load())<<32) >> (u & 1 * 16)
	first, end := uint32(two)&0xffff, uint32(two>>16)&0xffff
	part := uint(l.part) & 63
	p.From, p.To = l.bases[u>>part]+first, l.bases[(u+1)>>part]+end
	p.Exact = first != 0 && end != 0 && p.To-p.From <= most
	return p.Exact
}

// Locate fills in p from the directory.
func (r *Run) Locate(p *Probe, rest uint64) {
	r.LocateFrom(p, rest, r.window(p.First))
}

// LocateFrom is Locate for callers that know the window for p.First (PrefetchWindow).
func (r *Run) LocateFrom(p *Probe, rest uint64, window int) {
	block, end := r.blocksFrom(window, p.First, p.First|rest)
	p.From, p.To, p.Exact = uint32(block), uint32(end), false
}

// SetRange sets g to the range of p, which is not exact. It fills g in place: copying the struct
// would stall on store forwarding.
func (r *Run) SetRange(g *Range, p *Probe, rest uint64) {
	g.Run, g.First, g.Last, g.Block, g.End = r, p.First, p.First|rest, p.From, p.To
}

// UnaryStart returns a position lo in block b at or before the first key there of the exact probe
// p. Zero number zero of the block's unary part comes right before key lo, or both are 0.
func (r *Run) UnaryStart(p *Probe, b int, in Info) (lo int, zero uint64) {
	shift := r.leads.shift
	first := p.First >> uint(shift) << uint(shift)
	if first <= r.Base(b) || in.Width > shift {
		return 0, 0
	}
	return int(p.From) - b<<BlockShift, shr(first, in.Width) - shr(r.Base(b), in.Width)
}

// UnaryBit returns the approximate position, in the unary part of block b, of the bit of key i, a
// key of the exact probe p.
func (r *Run) UnaryBit(p *Probe, b int, in Info, i int) int {
	if lo, zero := r.UnaryStart(p, b, in); lo > 0 {
		i += int(min(zero, 1<<20))
	} else {
		i = i * in.High >> 3
	}
	return min(i, 64*in.High-1)
}
