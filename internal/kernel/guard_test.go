//go:build linux

package kernel

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lastWords returns the last n words of mem; its length must be a multiple of eight.
func lastWords(mem []byte, n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&mem[len(mem)-8*n])), n)
}

// TestKernelsStayInside puts the last byte that a kernel may read before an unreadable page.
func TestKernelsStayInside(t *testing.T) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Mprotect(mem[3*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	readable := mem[:3*page]
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 10))
		var space Keys
		words := lastWords(readable, 1024)
		for i := range words {
			words[i] = r.Uint64() // so that coarse comparisons are not abandoned
		}
		for range 200 {
			n, m := 1+r.IntN(9), 1+r.IntN(100)
			ScanMany(nil, lastWords(readable, n), lastWords(readable, m), r.IntN(20))
			ScanMany(nil, words[r.IntN(64):][:384/m+n], lastWords(readable, m), r.IntN(10))
		}
		clear(words)
		for _, w := range widths() {
			for range 20 {
				n := 1 + r.IntN(BlockKeys)
				packed := readable[len(readable)-(n*w+7)/8-Slack:]
				from := r.IntN(n)
				ScanPacked(nil, packed, w, from, n, r.Uint64(), r.IntN(9))
				spans := make([]Span, 1)
				spans[0].Set(packed, w, from, n, r.Uint64(), r.IntN(9), 0)
				PrefetchSpans(spans)
				ScanSpans(nil, spans)
				Get(packed, w, n-1)
				unary := readable[len(readable)-8*(1+r.IntN(30)):]
				RankZeros(unary, 3, 1<<40, 5)
				space.Decode(unary, packed, w, 0, n, 0)
			}
		}
	})
}
