package blobs

// A binary search in the directory of a table on a server would need a request for each of its first steps.
// Instead, the position of an entry is guessed from the number of the record, and the entries around it
// are read, one chunk of the file or two. In a table of 60,000 blocks whose numbers of records vary at random,
// the second guess is nearly always right.
const seekEntries = 4096 / RecordsEntry

// seeking is the state of a search for the block of a record.
type seeking struct {
	record     uint32
	lo, hi     int    // the block is in [lo, hi)
	first, end uint32 // first records of the blocks lo and hi
	from, to   int    // the entries around the guess
}

// seek finds the blocks of records: result i is the range of blocks with record i, and their entries have been
// read. Those of all records are read together.
func (d *Records) seek(records ...uint32) []seeking {
	found := make([]seeking, len(records))
	left := make([]*seeking, len(records))
	for i, record := range records {
		found[i] = seeking{record: min(record, d.n-1), hi: d.NumBlocks(), end: d.n}
		left[i] = &found[i]
	}
	for round := 0; len(left) > 0; round++ {
		for _, s := range left {
			at := s.lo + int(uint64(s.record-s.first)*uint64(s.hi-s.lo)/uint64(s.end-s.first))
			if round%2 == 1 { // so that a damaged directory does not make the search long
				at = int(uint(s.lo+s.hi) / 2)
			}
			s.from, s.to = max(at-seekEntries/2, s.lo), min(at+seekEntries/2, s.hi)
			d.dir.Fetch(s.from*RecordsEntry, s.to*RecordsEntry)
		}
		more := left[:0]
		for _, s := range left {
			if d.narrow(s) {
				more = append(more, s)
			}
		}
		left = more
	}
	return found
}

// narrow reads the entries around a guess, and reports whether another guess is necessary.
func (d *Records) narrow(s *seeking) bool {
	d.dir.Need(s.from*RecordsEntry, s.to*RecordsEntry)
	first, last := d.firstOf(s.from), d.firstOf(s.to-1)
	switch {
	case first > s.record && s.from > s.lo:
		s.hi, s.end = s.from, first
	case last <= s.record && s.to < s.hi:
		s.lo, s.first = s.to-1, last
	default:
		s.lo, s.hi = s.from, s.to
		return false
	}
	return true
}

// Fetch says that records will be read, of a table on a server. It waits for the entries of their blocks.
func (d *Records) Fetch(records []uint32) {
	if d.NumBlocks() == 0 {
		return
	}
	for _, s := range d.seek(records...) {
		b := d.BlockOf(s.record)
		d.dir.Fetch(max(b-1, 0)*RecordsEntry, b*RecordsEntry)
		if e := d.entry(b); e.offset <= uint64(len(d.area.Data)) && uint64(e.stored) <= uint64(len(d.area.Data))-e.offset {
			d.area.Fetch(int(e.offset), int(e.offset)+int(e.stored))
		}
	}
}
