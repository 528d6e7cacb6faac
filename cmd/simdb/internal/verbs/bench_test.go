package verbs

import (
	"context"
	"math"
	"math/bits"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/vfs"
)

// TestBenchFingerprints checks that fingerprints can be made in any order, and that the copies are
// near what they are copies of.
func TestBenchFingerprints(t *testing.T) {
	b := &bench{c: &Bench{N: 1000}, n: 1100}
	rng := splitMix(42)
	for i := range 1000 {
		if got, want := b.fingerprint(i), rng.next(); got != want {
			t.Fatalf("fingerprint %d is %x, not %x", i, got, want)
		}
	}
	distances := 0
	for i := 1000; i < 1100; i++ {
		d := bits.OnesCount64(b.fingerprint(i) ^ b.fingerprint((i-1000)*10))
		if d < 1 || d > 3 {
			t.Fatalf("copy %d is %d bits away", i, d)
		}
		distances |= 1 << d
	}
	if distances != 1<<1|1<<2|1<<3 {
		t.Errorf("not all distances: %b", distances)
	}
}

// TestMachine checks that what is measured is possible, and in order.
func TestMachine(t *testing.T) {
	m := measureMachine(4 << 20)
	for name, ns := range map[string]float64{
		"latency": m.latency, "line": m.line, "span": m.span, "byte": m.byte, "compare": m.compare, "many": m.compareMany,
		"decode": m.decode, "move": m.move,
	} {
		if ns <= 0 || ns > 1e4 || math.IsNaN(ns) {
			t.Errorf("%s takes %v ns", name, ns)
		}
	}
	if m.byte > m.latency || m.compareMany > m.latency {
		t.Errorf("reading in order is slower than at random: %+v", m)
	}
}

// TestChase checks that the chase goes through all lines.
func TestChase(t *testing.T) {
	const lines = 1000
	data := make([]byte, lines*cacheLine)
	chase(data, lines)
	at, seen := 0, map[int]bool{}
	for !seen[at] {
		seen[at] = true
		at = int(data[at*cacheLine]) | int(data[at*cacheLine+1])<<8
	}
	if len(seen) != lines || at != 0 {
		t.Errorf("a cycle of %d lines of %d", len(seen), lines)
	}
}

// TestBounds computes bounds of a small database by hand.
func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.simdb")
	db, err := engine.Create(path, &engine.Options{NoText: true, NoSketch: true, Layout: "4:1"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := db.NewLoader(context.Background(), engine.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rng, fps := splitMix(3), make([]uint64, 3000)
	for i := range fps {
		fps[i] = rng.next()
		if err := l.Add(engine.Doc{ID: string(rune('a' + i)), Fingerprint: &fps[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := openBounds(machine{latency: 1000, line: 1e-9, span: 1e-9, byte: 1e-9, compare: 1e-9, compareMany: 1e-9}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	// Latencies alone: two for a search, four if it finds something.
	miss, _ := x.near([]uint64{^fps[0], ^fps[1]}, 0)
	hit, err := x.near(fps[:2], 0)
	if err != nil || math.Abs(miss-2000) > 1 || math.Abs(hit-4000) > 1 {
		t.Errorf("bounds %v and %v, %v", miss, hit, err)
	}
	// Bytes alone: four runs of about 58 bits a key. Moves alone: two digits for twelve bits of
	// each query and run, and of each hit. Each key is decoded once.
	for _, c := range []struct {
		machine     machine
		least, most float64
	}{
		{machine{byte: 1}, 4 * 3000 * 6, 4 * 3000 * 8},
		{machine{move: 1}, 5 * 3000 * 2, 5 * 3000 * 2},
		{machine{decode: 1}, 4 * 3000, 4 * 3000},
	} {
		x.machine = c.machine
		if ns, err := x.batch(context.Background(), fps, 3); err != nil || ns < c.least || ns > c.most {
			t.Errorf("a batch with %+v takes %v, not %v to %v; %v", c.machine, ns, c.least, c.most, err)
		}
	}
	// Comparisons alone: 2^20 fingerprints that share 16 bits of 64, in four ways; a pair takes two
	// lines.
	m := machine{compareMany: 1, line: 1}
	if got := m.pairs(1<<20, 3, 50); got > 4*math.Exp2(40-17)+100 || got < 100 {
		t.Errorf("pairs take %v", got)
	}
	if got := (machine{move: 1}).pairs(1000, 3, 0); got != 3*2*1000 {
		t.Errorf("pairs take %v moves", got)
	}
}

// TestBenchRoom asks for more than any disk has.
func TestBenchRoom(t *testing.T) {
	if bits.UintSize < 64 {
		t.Skip("some disks have room for as many as an int can count")
	}
	b := &bench{c: &Bench{Dir: t.TempDir(), Parts: 1}, n: math.MaxInt >> 10}
	if _, known := vfs.Free(b.c.Dir); !known {
		t.Skip("this system does not say what is free")
	}
	if _, err := b.tempDir(); err == nil || !strings.Contains(err.Error(), "are needed") {
		t.Errorf("2^53 fingerprints: %v", err)
	}
}
