package sieve

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// section returns the sieve of fingerprints as it lies at an offset of a file.
func section(t *testing.T, b *Builder, offset int64) keyrun.Section {
	t.Helper()
	var body bytes.Buffer
	dir, err := b.WriteTo(&body, offset)
	if err != nil {
		t.Fatal(err)
	}
	return keyrun.Section{File: "file", Name: "sieve", Body: slices.Grow(body.Bytes(), kernel.Slack), Offset: offset, Dir: dir}
}

// TestFlips makes sieves of many sizes, at several offsets. They let all flips pass that lead to a
// fingerprint with one difference in the high bits of each block, and about as many others as are
// expected.
func TestFlips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{1, 100, 20_000, 300_000, 1 << 22} {
		fps := make([]uint64, min(n, 300_000))
		for i := range fps {
			fps[i] = r.Uint64()
		}
		b := NewBuilder(n)
		b.Add(fps)
		s, err := Open(section(t, b, int64(64*(n%64))))
		if err != nil {
			t.Fatal(err)
		}
		each := func(add func([]uint64)) error { add(fps[len(fps)/2:]); add(fps[:len(fps)/2]); return nil }
		if err := s.Verify(n, each); err != nil {
			t.Error(err)
		}
		low, passed := s.LowMask(), 0
		for range 2000 {
			flips := [blocks]uint64{
				1 << (shift0 + s.Low[0] + r.IntN(size0-s.Low[0])), 1 << (shift1 + s.Low[1] + r.IntN(size1-s.Low[1])), 1 << (s.Low[2] + r.IntN(size1-s.Low[2])),
			}
			q := fps[r.IntN(len(fps))] ^ flips[0] ^ flips[1] ^ flips[2]
			s.Prefetch(q)
			got, err := s.Flips(q)
			if err != nil || got&flips[1] == 0 {
				t.Fatalf("%d fingerprints: %016x is to be flipped in %016x, not in %016x, %v", n, q, flips[1], got, err)
			}
			if got&(low|^(uint64(mask1)<<shift1)) != 0 {
				t.Fatalf("%016x of bits that are not high ones of block 1", got)
			}
			random, err := s.Flips(r.Uint64())
			if err != nil {
				t.Fatal(err)
			}
			passed += bits.OnesCount64(random)
		}
		share := float64(passed) / 2000 / float64(size1-s.Low[1])
		want := 1 - math.Exp(-float64(len(fps))/float64(s.numSlots()))
		if share > want+0.02 || share < want-0.02 {
			t.Errorf("of %d fingerprints %.3f of all flips pass, not %.3f", n, share, want)
		}
	}
}

// TestShapes: of all sizes the groups are in one page, or a few, and wide probes have few keys.
func TestShapes(t *testing.T) {
	for n := 1 << 20; n <= Most; n += n / 7 {
		s := ShapeFor(n)
		if perKey := float64(s.numSlots()) / float64(n); perKey > bitsPerKey || perKey < 0.98*bitsPerKey || !s.valid() || s.numSlots() > math.MaxUint32 {
			t.Errorf("%d fingerprints: %.2f bits each in the shape %+v", n, perKey, s)
		}
		if keys := n >> (size1 - s.Low[1]); keys > 256 {
			t.Errorf("%d fingerprints: a wide probe has %d keys", n, keys)
		}
	}
}

// TestHostile opens damaged sieves, and searches them: no error but of damage, and none that is not
// noticed.
func TestHostile(t *testing.T) {
	b := NewBuilder(30_000)
	b.Add([]uint64{1, 2, 3})
	src := section(t, b, 128)
	isDamage := func(err error) bool {
		var c *base.CorruptionError
		return errors.As(err, &c)
	}
	for at := range src.Dir {
		bad := src
		bad.Dir = bytes.Clone(src.Dir)
		bad.Dir[at] ^= 2
		if _, err := Open(bad); !isDamage(err) {
			t.Errorf("byte %d of the directory: %v", at, err)
		}
	}
	for _, body := range [][]byte{nil, src.Body[:len(src.Body)-1], src.Body[1:], append(bytes.Clone(src.Body), make([]byte, pageSize)...)} {
		bad := src
		bad.Body = body
		if _, err := Open(bad); !isDamage(err) {
			t.Errorf("a body of %d bytes: %v", len(body), err)
		}
	}
	r := rand.New(rand.NewPCG(1, 10))
	each := func(add func([]uint64)) error { add([]uint64{1, 2, 3}); return nil }
	for at := 0; at < len(src.Body); at += 1 + r.IntN(500) {
		bad := src
		bad.Body = bytes.Clone(src.Body)
		bad.Body[at] ^= 1 << r.IntN(8)
		s, err := Open(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(30_000, each); !isDamage(err) {
			t.Errorf("byte %d: %v", at, err)
		}
		for range 20_000 {
			if _, err = s.Flips(r.Uint64()); err != nil {
				break
			}
		}
		if at >= padding(src.Offset) && !isDamage(err) || at < padding(src.Offset) && err != nil {
			t.Errorf("byte %d: searches end with %v", at, err)
		}
	}
}
