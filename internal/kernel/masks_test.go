package kernel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// plainMasks and plainEdges are bitwise implementations of Masks and Edges.
func plainMasks(dst []uint64, text []byte) int {
	for i := range dst {
		dst[i] = 0
		for b, c := range text[TextBlock*i:][:TextBlock] {
			if c >= 0x80 {
				return i
			}
			if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
				dst[i] |= 1 << b
			}
		}
	}
	return len(dst)
}

func plainEdges(masks []uint64) (edges []uint16) {
	before := uint64(0)
	for i, m := range masks {
		for b := range 64 {
			bit := m >> b & 1
			if bit != before {
				edges = append(edges, uint16(64*i+b))
			}
			before = bit
		}
	}
	return edges
}

// checkMasks compares Masks and Edges on text with their definitions.
func checkMasks(t *testing.T, text []byte) {
	t.Helper()
	blocks := len(text) / TextBlock
	got, want := make([]uint64, blocks+1), make([]uint64, blocks)
	got[blocks] = 0x1234
	n := plainMasks(want, text)
	if full := Masks(got[:blocks], text); full != n {
		t.Fatalf("Masks of %q did %d blocks, want %d", text, full, n)
	}
	if !slices.Equal(got[:n], want[:n]) || got[blocks] != 0x1234 {
		t.Fatalf("Masks of %q: %x, want %x", text, got, want[:n])
	}
	n = min(n, maxMasks)
	edges, wantEdges := make([]uint16, 64*n+1), plainEdges(want[:n])
	edges[64*n] = 0x5678
	if e := edges[:Edges(edges[:64*n], want[:n])]; !slices.Equal(e, wantEdges) || edges[64*n] != 0x5678 {
		t.Fatalf("Edges of %x: %v, want %v", want[:n], e, wantEdges)
	}
}

func TestEveryByteEverywhere(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		for _, around := range []string{" ", "x"} {
			for c := range 256 {
				for at := range 2 * TextBlock {
					text := []byte(strings.Repeat(around, 2*TextBlock))
					text[at] = byte(c)
					checkMasks(t, text)
				}
			}
		}
	})
}

func TestRandom(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			off := r.IntN(70)
			text := make([]byte, off+r.IntN(700))
			span := 1 + r.IntN(128)
			for i := range text {
				text[i] = byte(r.IntN(span))
			}
			if r.IntN(4) == 0 && len(text) > 0 {
				text[r.IntN(len(text))] = byte(r.IntN(256))
			}
			checkMasks(t, text[off:])
		}
	})
}

// TestFullRange has an edge at every offset that fits into 16 bits, and no edge.
func TestFullRange(t *testing.T) {
	withLevels(t, func(t *testing.T) {
		checkMasks(t, []byte(strings.Repeat("a ", 1<<16/2)))
		checkMasks(t, []byte(strings.Repeat(" ", 1<<16)))
		checkMasks(t, []byte(strings.Repeat("a", 1<<16)))
		masks := make([]uint64, maxMasks)
		r := rand.New(rand.NewPCG(3, 4))
		for i := range masks {
			masks[i] = r.Uint64()
		}
		dst := make([]uint16, 64*len(masks))
		if got, want := dst[:Edges(dst, masks)], plainEdges(masks); !slices.Equal(got, want) {
			t.Fatal("random masks: wrong edges")
		}
	})
}

func TestShortArgumentsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"text":  func() { Masks(make([]uint64, 2), make([]byte, 127)) },
		"dst":   func() { Edges(make([]uint16, 127), make([]uint64, 2)) },
		"masks": func() { Edges(make([]uint16, 65*1024), make([]uint64, 1025)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			f()
		})
	}
}

func FuzzMasks(f *testing.F) {
	f.Add([]byte(strings.Repeat("The quick brown fox, 42 times. ", 5)))
	f.Add([]byte(strings.Repeat("d\u00e9j\u00e0 vu ", 20)))
	f.Fuzz(func(t *testing.T, text []byte) {
		eachLevel(func(Level) { checkMasks(t, text) })
	})
}
