//go:build linux && amd64 && !purego

package kernel

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestEightStaysInside puts the words of a band, with their padding, between unreadable pages:
// first at the end of the page before them, then at the beginning of the next page.
func TestEightStaysInside(t *testing.T) {
	if Active() < AVX512 {
		t.Skip("no AVX-512")
	}
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	for _, at := range []int{0, 3 * page} {
		if err := unix.Mprotect(mem[at:at+page], unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[page])), 2*page/8)
	for blocks := leastTogether; blocks < 100; blocks++ {
		for _, first := range []int{padding, len(words) - blocks - 2*padding} {
			var equal [together]*uint64
			for j := range equal {
				equal[j] = &words[first]
			}
			eightAVX512(&words[first], &words[first], &equal, blocks)
		}
	}
}
