package vfs

import "golang.org/x/sys/unix"

const (
	hugePage = 2 << 20
	// hugeShare is the part of the machine's memory, as its inverse, beyond which an index is left
	// alone: to read two megabytes for every page that is missing would only push out others.
	hugeShare = 4
)

// AdviseIndex says that data[from:], data being what Mmap has returned, is read here and there, all
// of it before long. Where file system and kernel have large pages in their cache, they are asked
// to use them: a search touches dozens of places, and with small pages each is a miss of the
// address cache beside that of the data (docs/performance.md).
func (f *diskFile) AdviseIndex(data []byte, from int64) {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil || uint64(len(data))-uint64(from) > uint64(si.Totalram)*uint64(si.Unit)/hugeShare {
		return
	}
	from &^= hugePage - 1                             // the mapping starts at such a border of the address space if it has the size for it
	_ = unix.Madvise(data[from:], unix.MADV_HUGEPAGE) // only advice: an error changes nothing
}
