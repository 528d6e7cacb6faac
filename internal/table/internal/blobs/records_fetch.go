package blobs

// A binary search in the directory of a table on a server would need a request for each of its first steps.
// Instead, the position of an entry is guessed from the number of the record, and the entries around it
// are read, one chunk of the file or two. In a table of 60,000 blocks whose numbers of records vary at random,
// the second guess is nearly always right.
const seekEntries = 4096 / RecordsEntry

// seeking is the state of a search for the block of a record.
type seeking struct {
	record uint32
	lo, hi int    // the block is in [lo, hi)
	first  uint32 // first record of block lo
	end    uint32 // first record of block hi
	from   int    // the entries [from, to) are read next
	to     int
	middle bool // the next guess is the middle, so that a damaged directory does not make the search long
	found  bool // the entries of [lo, hi) have been read
}

// seek starts the search for the block of a record.
func (d *Records) seek(record uint32) seeking {
	s := seeking{record: min(record, d.n-1), hi: d.NumBlocks(), end: d.n}
	s.guess()
	return s
}

// guess sets the entries that are read next.
func (s *seeking) guess() {
	at := s.lo + int(uint64(s.record-s.first)*uint64(s.hi-s.lo)/uint64(s.end-s.first))
	if s.middle {
		at = int(uint(s.lo+s.hi) / 2)
	}
	s.from, s.to = max(at-seekEntries/2, s.lo), min(at+seekEntries/2, s.hi)
	s.middle = !s.middle
}

// narrow reads entries, and makes the next guess if none of them has the record.
func (d *Records) narrow(s *seeking) {
	d.dir.Need(s.from*RecordsEntry, s.to*RecordsEntry)
	first, last := d.firstOf(s.from), d.firstOf(s.to-1)
	switch {
	case first > s.record && s.from > s.lo:
		s.hi, s.end = s.from, first
	case last <= s.record && s.to < s.hi:
		s.lo, s.first = s.to-1, last
	default:
		s.lo, s.hi, s.found = s.from, s.to, true
		return
	}
	s.guess()
}

// Fetch says that records will be read, of a table on a server. It waits for the entries of their blocks,
// of all records together.
func (d *Records) Fetch(records []uint32) {
	if d.NumBlocks() == 0 || !d.dir.Pages.IsRemote() {
		return
	}
	seeks := make([]seeking, 0, len(records))
	for _, record := range records {
		if record < d.n {
			seeks = append(seeks, d.seek(record))
		}
	}
	for rest := seeks; len(rest) > 0; {
		for i := range rest {
			d.dir.Fetch(rest[i].from*RecordsEntry, rest[i].to*RecordsEntry)
		}
		more := rest[:0]
		for i := range rest {
			if d.narrow(&rest[i]); !rest[i].found {
				more = append(more, rest[i])
			}
		}
		rest = more
	}
	for _, record := range records {
		if record >= d.n {
			continue
		}
		b := d.BlockOf(record)
		d.dir.Fetch(max(b-1, 0)*RecordsEntry, b*RecordsEntry)
		if e := d.entry(b); e.offset <= uint64(len(d.area.Data)) && uint64(e.stored) <= uint64(len(d.area.Data))-e.offset {
			d.area.Fetch(int(e.offset), int(e.offset)+int(e.stored))
		}
	}
}
