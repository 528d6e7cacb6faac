package zframe

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// inputs returns one input of n bytes of each kind.
func inputs(r *rand.Rand, n int) map[string][]byte {
	const alphabet = "abcdefghijklmnopqrstuvwxyz"
	fill := func(next func() string) []byte {
		var b []byte
		for len(b) < n {
			b = append(b, next()...)
		}
		return b[:n]
	}
	words := make([]string, 1+r.IntN(2000))
	for i := range words {
		for range 1 + r.IntN(12) {
			words[i] += alphabet[r.IntN(26):][:1]
		}
	}
	word := func() string { return words[int(r.ExpFloat64()*float64(len(words))/8)%len(words)] + " " }
	random := func() string { return string(rune(r.IntN(256))) }
	period := fill(random)[:min(n, 1+r.IntN(300))]
	kinds := map[string][]byte{
		"words":  fill(word),
		"random": make([]byte, n),
		"runes":  fill(random),
		"zeros":  make([]byte, n),
		"period": fill(func() string { return string(period) }),
		"letter": fill(func() string { return alphabet[r.IntN(3):][:1] }),
		"runs":   fill(func() string { return string(bytes.Repeat([]byte(random()), 1+r.IntN(1<<r.IntN(12)))) }),
		"mixed": fill(func() string {
			if r.IntN(40) == 0 {
				return random() + random() + random() + random() + random() + random()
			}
			return word()
		}),
	}
	for i := range kinds["random"] {
		kinds["random"][i] = byte(r.Uint32())
	}
	copies := fill(random) // matches of all lengths at all distances
	for at := r.IntN(n); at < n; {
		from, m := r.IntN(at+1), 1<<r.IntN(13)+r.IntN(9)
		if at == from {
			break
		}
		for k := 0; k < m && at < n; k, at = k+1, at+1 {
			copies[at] = copies[from+k]
		}
		at += r.IntN(1 << r.IntN(9))
	}
	kinds["copies"] = copies
	return kinds
}

// TestAppend decodes frames of inputs of all lengths with a decoder that knows nothing of this
// package, and compares with those of a new encoder.
func TestAppend(t *testing.T) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 30))
	used := new(encoder)
	for round := range 250 {
		n := MinInput + r.IntN(1<<(1+r.IntN(16)))
		if n = min(n, MaxInput); round < 3 {
			n = []int{MinInput, MinInput + 1, MaxInput}[round]
		}
		for kind, in := range inputs(r, n) {
			frame := Append([]byte("x"), in)[1:]
			got, err := d.DecodeAll(frame, nil)
			if err != nil || !bytes.Equal(got, in) {
				t.Fatalf("%d bytes, %s: %v, or other bytes", n, kind, err)
			}
			if len(frame) > n+len(frameHeader)+5 {
				t.Errorf("%d bytes, %s: a frame of %d bytes", n, kind, len(frame))
			}
			used.find(in)
			fresh := new(encoder)
			if fresh.find(in); !slices.Equal(fresh.sequences, used.sequences) || !bytes.Equal(fresh.literals, used.literals) {
				t.Fatalf("%d bytes, %s: other sequences after another input", n, kind)
			}
			if again := Append(nil, in); !bytes.Equal(again, frame) {
				t.Fatalf("%d bytes, %s: another frame at the second time", n, kind)
			}
		}
	}
}

// TestSize compares the sizes of frames with those of the fastest level of another encoder.
func TestSize(t *testing.T) {
	e := otherEncoder(t)
	r := rand.New(rand.NewPCG(2, 30))
	ours, theirs := map[string]int{}, map[string]int{}
	for range 40 {
		for kind, in := range inputs(r, 24<<10) {
			ours[kind] += min(len(Append(nil, in)), len(in))
			theirs[kind] += min(len(e.EncodeAll(in, nil)), len(in))
		}
	}
	for kind, size := range ours {
		t.Logf("%s: %d bytes, the other %d", kind, size, theirs[kind])
		if size > theirs[kind]+theirs[kind]/20+40*20 { // a few bytes more for each
			t.Errorf("%s: %d bytes, the other %d", kind, size, theirs[kind])
		}
	}
}

func otherEncoder(t testing.TB) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestShares checks the tables of distributions of all kinds.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 30))
	for range 20_000 {
		var c coder
		n, same := 0, r.Uint32N(2)*r.Uint32N(20) // equal shares are all rounded the same way
		for s := range 1 + r.IntN(53) {
			c.counts[s] = r.Uint32N(1 << r.IntN(14))
			if r.IntN(4) == 0 {
				c.counts[s] = r.Uint32N(2)
			}
			if same > 0 {
				c.counts[s] = same
			}
			n += int(c.counts[s])
		}
		if n == 0 {
			continue
		}
		c.prepare(n)
		if c.log == 0 {
			continue
		}
		sum := 0
		for s, share := range c.shares[:c.used] {
			if sum += int(share); (share > 0) != (c.counts[s] > 0) {
				t.Fatalf("%d of %d have the share %d", c.counts[s], n, share)
			}
		}
		if sum != 1<<c.log {
			t.Fatalf("shares of %d, not %d", sum, 1<<c.log)
		}
	}
}

// BenchmarkAppend compresses words, beside the fastest level of another encoder.
func BenchmarkAppend(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 30))
	var blocks [][]byte
	for range 100 {
		blocks = append(blocks, inputs(r, 24<<10)["words"])
	}
	other := otherEncoder(b)
	for name, f := range map[string]func(dst, src []byte) []byte{
		"this": Append, "other": func(dst, src []byte) []byte { return other.EncodeAll(src, dst) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(100 * 24 << 10)
			var dst []byte
			for b.Loop() {
				for _, src := range blocks {
					dst = f(dst[:0], src)
				}
			}
		})
	}
}
