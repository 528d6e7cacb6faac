package minhash

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSketch returns a sketch of up to n hashes below limit.
func randomSketch(r *rand.Rand, n int, limit uint64) Sketch {
	s := make(Sketch, n)
	for i := range s {
		s[i] = uint32(r.Uint64N(limit))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

func TestEncodeDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sketches := []Sketch{{}, {0}, {1}, {math.MaxUint32}, {0, math.MaxUint32}, {0, 1, 2, 3}, {math.MaxUint32 - 1, math.MaxUint32}}
	for range 5000 {
		sketches = append(sketches, randomSketch(r, r.IntN(1<<r.IntN(10)), 1+r.Uint64N(1<<r.IntN(33))))
	}
	for _, s := range sketches {
		enc := s.AppendEncoded([]byte("x"))
		got, rest, err := Decode(Sketch{7}, append(enc, "rest"...)[1:])
		if err != nil || string(rest) != "rest" || got[0] != 7 || !slices.Equal(got[1:], s) {
			t.Fatalf("Decode(%x) = %v, %q, %v; want %v", enc, got, rest, err, s)
		}
		for i := range enc[1:] {
			if _, _, err := Decode(nil, enc[1:1+i]); !errors.Is(err, ErrEncoding) {
				t.Fatalf("Decode(%x) of %d bytes less: %v", enc, len(enc)-1-i, err)
			}
		}
	}
}

// TestDecodeAcceptsOneEncoding changes encodings: if one can still be decoded, encoding the result
// must give the same bytes.
func TestDecodeAcceptsOneEncoding(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		s := make(Sketch, r.IntN(21))
		for i := range s {
			s[i] = r.Uint32() >> r.IntN(24)
		}
		slices.Sort(s)
		s = slices.Compact(s)
		enc := s.AppendEncoded(nil)
		i := r.IntN(len(enc))
		enc[i] ^= byte(1 + r.IntN(255))
		got, rest, err := Decode(nil, enc)
		if err == nil && !bytes.Equal(append(got.AppendEncoded(nil), rest...), enc) {
			t.Fatalf("%x decodes to %v, which encodes to %x", enc, got, got.AppendEncoded(nil))
		}
	}
}

func TestEncodedSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shingles := range []uint64{200, 1000, 10000} {
		limit := uint64(128<<32) / shingles
		enc := randomSketch(r, 128, limit).AppendEncoded(nil)
		t.Logf("128 of %d shingles: %d bytes", shingles, len(enc))
		if best := 128 * (math.Log2(float64(limit)/128) + math.Log2E) / 8; float64(len(enc)) > best+128*0.6/8+4 {
			t.Errorf("128 of %d shingles: %d bytes, least possible %.0f", shingles, len(enc), best)
		}
	}
}
