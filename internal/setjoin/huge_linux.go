package setjoin

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePages advises the system to use huge pages for a large array that is read at random: most of
// the cost of such a read is the translation of the address.
func hugePages[T any](a []T) {
	const page = 2 << 20
	if len(a) == 0 {
		return
	}
	size := uintptr(len(a)) * unsafe.Sizeof(a[0])
	from := uintptr(unsafe.Pointer(&a[0]))
	skip := (page - from%page) % page
	if size < skip+page {
		return
	}
	size = (size - skip) / page * page
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&a[0]), skip)), size), unix.MADV_HUGEPAGE) // a hint
}
