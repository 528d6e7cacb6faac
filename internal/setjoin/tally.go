package setjoin

// A tally finds entries by counting their common elements with a set, all of them. At a low threshold
// short texts meet most entries by their prefixes: then counting is many times faster than comparing.
// (ScanCount: Li, Lu, Lu, "Efficient Merging and Filtering Algorithms for Approximate String Searches",
// ICDE 2008)
type tally struct {
	lists map[uint64][]uint32 // by element that several sets may have: entries, ascending
	n     int                 // entries in lists
}

// listBytes is the approximate memory of a list, and listedBytes that of an entry in it.
const (
	listBytes   = 64
	listedBytes = 6
)

func newTally() *tally { return &tally{lists: map[uint64][]uint32{}} }

func (y *tally) bytes() int64 { return int64(len(y.lists))*listBytes + int64(y.n)*listedBytes }

func (y *tally) reset() {
	clear(y.lists)
	y.n = 0
}

// add adds the next entry.
func (y *tally) add(entry uint32, set []uint64, counts *counts) {
	for _, e := range set {
		if counts.shared(e) {
			y.lists[e] = append(y.lists[e], entry)
			y.n++
		}
	}
}

// tallied finds the entries that have enough elements in common with a set, ascending.
func (f *finder) tallied(x *index, p *prefix, t threshold) {
	n := len(x.sets)
	if len(f.hits) < n {
		f.hits = make([]uint32, n+n/4)
	}
	hits := f.hits[:n]
	for _, e := range p.set {
		for _, entry := range x.tally.lists[e] {
			hits[entry]++
		}
	}
	for entry, common := range hits {
		if common > 0 && int(common) >= t.about(p.size, int(x.sizes[entry])) {
			f.found = append(f.found, uint32(entry))
		}
		hits[entry] = 0
	}
	f.visited += n
}

const (
	sampledSets  = 512 // most sets from which a join estimates whether counting pays
	sampledShare = 16  // the sample has at most this fraction of the sets, so that it costs little

	// TallyPays is the time of one visit of an entry by prefixes, in steps of counting: a pair of sets is a
	// step, and each common element another one. It was measured with records, diagnoses and API
	// documentation, by words and characters. If only the best match is wanted, or one of each part, a match
	// ends the visits, which a sample shows too rarely: then counting must be faster by bestMargin.
	TallyPays  = 60
	bestMargin = 4
)

// count makes the join count common elements if that is faster. It joins a sample of the sets, which shows
// how many entries they would meet.
func (j *join) count() (err error) {
	n := min(j.len()/sampledShare, sampledSets)
	if j.t.Kind != Jaccard && j.t.Kind != Contained || n < 2 && !j.o.tally {
		return nil
	}
	every, margin := j.all && j.forest == nil, 1.0
	if !every {
		margin = bestMargin
	}
	prefixer, reader, in, common := &j.workers[0].prefixer, j.s.Reader(), map[uint64]int{}, 0
	j.within.reset()
	j.items = make([]item, n)
	for i := range j.items {
		it := &j.items[i]
		if *it = (item{set: j.at(i * j.len() / n), best: match{set: none}}); every {
			collect(nil, it)
		}
		if it.hashes, err = reader.Append(nil, int(it.set)); err != nil {
			return err
		}
		it.prefix, _ = prefixer.of(it.hashes, nil)
		if err := j.pair(it); err != nil {
			return err
		}
		if every || it.best.set == none {
			j.within.add(uint32(i), &it.prefix)
		}
		for _, e := range it.hashes {
			common += in[e]
			in[e]++
		}
	}
	pairs := n * (n - 1) / 2
	if j.o.tally || float64(j.finder.visited)*TallyPays > margin*float64(pairs+common) {
		j.index.tally, j.within.tally = newTally(), newTally()
	}
	j.finder.visited = 0
	return nil
}
