package jaccardjoin

// Sketches are what is joined.
type Sketches struct {
	Len  int                  // how many
	Size int                  // N: the number of hashes from which on a sketch is full
	At   func(i int) []uint32 // sketch i, ascending, valid until the join ends; called by all workers at once
}

// MaxSketches is the largest number of sketches that can be joined.
const MaxSketches = 1<<32 - 2

// Options are the options of Pairs. The zero value is fine.
type Options struct {
	// Workers is the number of goroutines that search; 0 means GOMAXPROCS. It changes no result and
	// no order.
	Workers int
	// Progress, if not nil, is called now and then from the calling goroutine: total is the work to
	// do, in sketches times blocks, and done what is behind.
	Progress func(done, total int64)
	// Known, if not nil, numbers parts of the sketches. Pairs need not find pairs within a part,
	// and compares few. It is called by all workers at once and may return other parts each time.
	Known func() []uint32

	blockPostings int // postings of a block; 0 means 2^24
}

// defaultBlockPostings bounds the memory of a block.
const defaultBlockPostings = 1 << 24
