package vfs

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fetchMost is how much one call requests: the system cuts larger requests to its read-ahead, which
// is this much where nobody has changed it.
const fetchMost = 128 << 10

// pageMask has the bits of an offset in a page.
var pageMask = int64(os.Getpagesize()) - 1

// Advise uses madvise, and posix_fadvise for what takes no lock of the address space there. Where
// file system and kernel have large pages in their cache, a search that touches dozens of places
// misses the address cache far less (docs/performance.md).
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
	case AdviseDrop: // pages that are mapped stay, so first they are no longer
		return unix.Madvise(part, unix.MADV_DONTNEED) == nil && unix.Fadvise(int(f.f.Fd()), from, to-from, unix.FADV_DONTNEED) == nil
	case AdviseLoad:
		return unix.Madvise(part, unix.MADV_POPULATE_READ) == nil
	}
	return false
}

// Cached asks mincore.
func (f *diskFile) Cached(data []byte, at int64) bool {
	at &^= pageMask
	var in byte
	_, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[at])), 1, uintptr(unsafe.Pointer(&in)))
	return err != 0 || in&1 != 0
}

// HugePages advises the system to use huge pages for a large array that is read or written at
// random: most of the cost of such an access is the translation of the address.
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
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&a[0]), skip)), size), unix.MADV_HUGEPAGE) // a hint
}

// Free returns how many bytes the file system of a directory has left for this process, and false
// if that is not known.
func Free(dir string) (n int64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
