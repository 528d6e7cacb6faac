package blobs

// ListIter reads the strings of a list in order. Each block is checked once, and its ends are
// decoded at once.
type ListIter struct {
	list    *List
	next    uint32 // string that follows those of the block
	strings []byte // of the block
	start   uint32 // of the next string of the block
	at      int    // number of that string in the block
	count   int    // strings in the block
	ends    [maxListStrings]uint32
}

// Iter returns an iterator before string i, which may be the number of strings.
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

// load goes to the block of the next string.
func (it *ListIter) load() error {
	l := it.list
	b, at := l.blockOf(it.next)
	count := l.count(b)
	it.start = 0
	if b < l.NumBlocks() { // else all strings are empty, and all ends 0
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
