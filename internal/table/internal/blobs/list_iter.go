package blobs

// ListIter reads the strings of a list in order. It verifies each block once, and decodes all its
// ends together.
type ListIter struct {
	list    *List
	next    uint32 // first string after the current block
	strings []byte // of the current block
	start   uint32 // start of the next string in the block
	at      int    // index of that string in the block
	count   int    // number of strings in the block
	ends    [maxListStrings]uint32
}

// Iter returns an iterator before string i. i may be the number of strings.
func (l *List) Iter(i uint32) ListIter { return ListIter{list: l, next: i} }

// Next returns the next string, which must exist. It aliases the table.
func (it *ListIter) Next() ([]byte, error) {
	if it.at == it.count {
		if err := it.load(); err != nil {
			return nil, err
		}
	}
	start, end := it.start, it.ends[it.at&(maxListStrings-1)]
	it.at, it.start = it.at+1, end
	return it.strings[start:end:end], nil
}

// load moves to the block of the next string.
func (it *ListIter) load() error {
	l := it.list
	b, at := l.blockOf(it.next)
	count := l.count(b)
	it.start = 0
	if b < l.NumBlocks() { // otherwise all strings are empty, and all ends 0
		if l.checked[b>>5].Load()>>(b&31)&1 == 0 {
			if err := l.check(b, &it.ends); err != nil {
				return err
			}
		} else {
			l.decode(b, &it.ends)
		}
		off, length := l.Extent(b)
		_, packed := l.packed(b)
		it.strings = l.area.Data[off+uint64(packed) : off+length]
		if at > 0 {
			it.start = it.ends[at-1]
		}
	}
	it.at, it.count = at, count
	it.next += uint32(count - at)
	return nil
}

// AppendRun appends the strings [from, end), which must exist, to dst, one after the other, and their
// ends in dst to ends.
func (l *List) AppendRun(dst []byte, ends []int, from, end uint32) ([]byte, []int, error) {
	it := l.Iter(from)
	for from < end {
		if err := it.load(); err != nil {
			return dst, ends, err
		}
		some := it.ends[it.at:min(it.count, it.at+int(end-from))]
		first := len(dst) - int(it.start)
		dst = append(dst, it.strings[it.start:some[len(some)-1]]...)
		for _, to := range some {
			ends = append(ends, first+int(to))
		}
		from += uint32(len(some))
	}
	return dst, ends, nil
}
