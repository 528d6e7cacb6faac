package vfs

// Advice says how a part of a mapping is going to be read. It changes what is read from storage,
// and when, and never what the mapping holds.
type Advice int

const (
	// AdviseNormal leaves it to the system, which reads ahead.
	AdviseNormal Advice = iota
	// AdviseIndex: at random, and soon all of it. It requests large pages from the
	// system, which reads ahead at least one.
	AdviseIndex
	// AdviseRandom: here and there, and little of it. Nothing is read but the pages that are
	// touched, or fetched.
	AdviseRandom
	// AdviseFetch: soon. What is not in memory begins to be read; the call does not wait for it.
	AdviseFetch
	// AdviseDrop: pages in memory that nobody else uses are given up, to be read again.
	AdviseDrop
	// AdviseLoad: now. What is not in memory is read, and all is mapped, before the call returns.
	AdviseLoad
	// AdviseRemap is AdviseIndex for a part whose pages are in memory: they are mapped again, so
	// that those that were mapped as small pages and have become large are mapped as such.
	AdviseRemap
)

// EarlyWriter is a File that can begin to write to storage what it has in memory, so that a Sync at
// the end of a large file has little to wait for.
type EarlyWriter interface {
	// WriteEarly begins to write bytes [from, to), and does not wait until they are safe.
	WriteEarly(from, to int64)
}

// Adviser is a File that takes advice on its mapping. Systems that know no such advice ignore it.
type Adviser interface {
	// Advise says how data[from:to] is going to be read, where data is what Mmap has returned and
	// has not been unmapped. It has an effect on whole pages, those that the part touches. It
	// reports whether the system takes this advice.
	Advise(data []byte, from, to int64, a Advice) bool
	// Cached reports whether byte at of the mapping is in memory; true if the system does not say.
	Cached(data []byte, at int64) bool
}
