package vfs

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fetchMost is the number of bytes that one call requests. The system truncates larger requests to
// its read-ahead, which has this size by default.
const fetchMost = 128 << 10

// pageMask masks the offset within a page.
var pageMask = int64(os.Getpagesize()) - 1

// Advise uses madvise, or posix_fadvise for advice that then needs no lock of the address space. If
// file system and kernel support large pages in the cache, a search that touches dozens of places
// has far fewer TLB misses (docs/performance.md).
func (f *diskFile) Advise(data []byte, from, to int64, a Advice) bool {
	from &^= pageMask
	to = min((to+pageMask)&^pageMask, int64(len(data)))
	if from >= to {
		return true
	}
	part := data[from:to]
	switch a {
	case AdviseNormal:
		return unix.Madvise(part, unix.MADV_NORMAL) == nil
	case AdviseRemap:
		if _, err := unix.MmapPtr(int(f.f.Fd()), from, unsafe.Pointer(&part[0]), uintptr(to-from), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			return false
		}
		fallthrough
	case AdviseIndex:
		return unix.Madvise(part, unix.MADV_NORMAL) == nil && unix.Madvise(part, unix.MADV_HUGEPAGE) == nil
	case AdviseRandom:
		return unix.Madvise(part, unix.MADV_RANDOM) == nil
	case AdviseFetch:
		fd := int(f.f.Fd())
		for ; from < to; from += fetchMost {
			if unix.Fadvise(fd, from, min(fetchMost, to-from), unix.FADV_WILLNEED) != nil {
				return false
			}
		}
		return true
	case AdviseDrop: // mapped pages cannot be dropped, so unmap them first
		return unix.Madvise(part, unix.MADV_DONTNEED) == nil && unix.Fadvise(int(f.f.Fd()), from, to-from, unix.FADV_DONTNEED) == nil
	case AdviseLoad:
		return unix.Madvise(part, unix.MADV_POPULATE_READ) == nil
	}
	return false
}

// Cached calls mincore.
func (f *diskFile) Cached(data []byte, at int64) bool {
	at &^= pageMask
	var in byte
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[at])), 1, uintptr(unsafe.Pointer(&in)))
	return err != 0 || in&1 != 0
}

// HugePages advises the system to use huge pages for a large array with random accesses: address
// translation is most of the cost of such an access.
func HugePages[T any](a []T) {
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
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&a[0]), skip)), size), unix.MADV_HUGEPAGE) // only a hint
}

// Free returns the number of free bytes for this process on the file system of a directory, or
// false if that is unknown.
func Free(dir string) (n int64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
