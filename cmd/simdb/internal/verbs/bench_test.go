package verbs

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
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

// TestBenchChecks gives the benchmark databases that lack a fingerprint, or have another in its
// place: it notices.
func TestBenchChecks(t *testing.T) {
	b := &bench{a: app.New(), c: &Bench{N: 1000}, n: 1100}
	b.a.Context()
	for _, c := range []struct {
		lacks, wrong int
		want         string
	}{{-1, -1, ""}, {17, -1, "finds 1099 documents of 1100"}, {-1, 170, "is wrong about"}} {
		db, err := engine.Create(filepath.Join(t.TempDir(), "a.simdb"), &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever})
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.n {
			fp := b.fingerprint(i)
			if i == c.wrong {
				fp ^= 1 << 63
			}
			if i == c.lacks {
				continue
			}
			if err := db.Put(context.Background(), engine.Doc{ID: fmt.Sprintf("%08x", i), Fingerprint: &fp}); err != nil {
				t.Fatal(err)
			}
		}
		err = b.check(db, b.fingerprint(170), 6)
		if err == nil {
			err = b.check(db, b.fingerprint(17), 64)
		}
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		db.Close()
	}
}

// TestBenchDisk requests more space than any disk has.
func TestBenchDisk(t *testing.T) {
	b := &bench{c: &Bench{Dir: t.TempDir()}, n: math.MaxInt >> 10}
	if _, known := vfs.Free(b.c.Dir); !known || bits.UintSize < 64 {
		t.Skip("what is free is not known, or some disks have room for as many as an int can count")
	}
	if err := b.checkDisk(); err == nil || !strings.Contains(err.Error(), "are needed") {
		t.Errorf("2^53 fingerprints: %v", err)
	}
}
