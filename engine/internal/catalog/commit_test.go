package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestCrashInTransaction cuts the power inside transactions. bbolt writes new pages, syncs, writes
// a root page and syncs; it never writes to a page that the last root page reaches. Whatever
// sectors of the new pages are there, and whatever size the file has, the state is therefore the
// old one while the old root page is there, and the new one if all new pages and the new root page
// are there.
func TestCrashInTransaction(t *testing.T) {
	exhaustive.Sequential(t)
	const sector, transactions, cuts = 512, 60, 25
	rng := rand.New(rand.NewPCG(6, 6))
	name := filepath.Join(t.TempDir(), "CATALOG")
	state := sample(rng, 8)
	mustCreate(t, vfs.Disk, name, state)
	c, _ := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	grown := 0
	for i := range transactions {
		was, before := clone(state), fileBytes(t, name)
		e := randomEdit(rng, &state)
		for n := range 40 { // makes the file grow
			e.SetMarks[fmt.Sprintf("load/%d/%d.jsonl", i, n)] = int64(n)
		}
		must.Do(t, c.Apply(e))
		state.model(e)
		after := fileBytes(t, name)
		if len(after) > len(before) {
			grown++
		}
		if bytes.Equal(before[:pageSize], after[:pageSize]) == bytes.Equal(before[pageSize:2*pageSize], after[pageSize:2*pageSize]) &&
			!bytes.Equal(before, after) {
			t.Fatalf("transaction %d changed both root pages, or none", i)
		}
		for cut := range exhaustive.Every(t, 6).Of(cuts) {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(cut)))
			keep := float64(cut) / (cuts - 1) // from nothing to everything
			left := make([]byte, len(before)+int(keep*float64(len(after)-len(before))))
			copy(left, before)
			for at := 2 * pageSize; at < len(left); at += sector {
				if rng.Float64() < keep {
					copy(left[at:min(at+sector, len(left))], after[at:])
				}
			}
			found(t, left, was, "the old root page, %v of the new sectors, transaction %d", keep, i)
		}
		found(t, after, state, "all of transaction %d", i)
	}
	if grown == 0 {
		t.Error("the file never grew")
	}
}

func fileBytes(t *testing.T, name string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(name))(t)
	return b
}

// found checks that a catalog with these bytes has the given state.
func found(t *testing.T, image []byte, want State, format string, args ...any) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "CATALOG")
	must.Do(t, os.WriteFile(name, image, 0o600))
	c, got, err := Open(vfs.Disk, name)
	if err != nil {
		t.Fatalf(format+": %v", append(args, err)...)
	}
	defer c.Close()
	if !equal(*got, want) {
		t.Fatalf(format+": got %+v, want %+v", append(args, got, want)...)
	}
}
