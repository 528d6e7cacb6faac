package vfs

// Advice says how a part of a mapping will be read. It changes which pages are read from storage,
// and when, but never the contents of the mapping.
type Advice int

const (
	// AdviseNormal leaves decisions to the system, which reads ahead.
	AdviseNormal Advice = iota
	// AdviseIndex is for random reads that will soon touch everything. It requests large pages from
	// the system, which reads ahead at least one.
	AdviseIndex
	// AdviseRandom is for a few random reads. Only pages that are touched or fetched are read.
	AdviseRandom
	// AdviseFetch is for a part that is read soon. Pages that are not in memory are requested; the
	// call does not wait for them.
	AdviseFetch
	// AdviseDrop releases pages in memory that nobody else uses. They can be read again later.
	AdviseDrop
	// AdviseLoad reads all pages that are not in memory, and maps everything before the call
	// returns.
	AdviseLoad
	// AdviseRemap is AdviseIndex for a part whose pages are in memory. It maps them again, so that
	// small pages that have become large ones are mapped as large pages.
	AdviseRemap
)

// EarlyWriter is a File that can start to write buffered data to storage, so that a Sync at the end
// of a large file has little to wait for.
type EarlyWriter interface {
	// WriteEarly starts to write bytes [from, to), and does not wait until they are durable.
	WriteEarly(from, to int64)
}

// Adviser is a File that accepts advice for its mapping. Systems without such advice ignore it.
type Adviser interface {
	// Advise says how data[from:to] will be read; data is a result of Mmap that has not been
	// unmapped. It applies to all pages that overlap with the part. It reports whether the system
	// supports this advice.
	Advise(data []byte, from, to int64, a Advice) bool
	// Cached reports whether byte at of the mapping is in memory. It returns true if the system
	// cannot tell.
	Cached(data []byte, at int64) bool
}
