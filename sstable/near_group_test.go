package sstable

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/sstable/internal/keytest"
)

func TestNearGroupEqualsNear(t *testing.T) {
	r := keytest.Rand("group", 0)
	var tables []*Reader
	var all [][]uint64
	for i := range 20 {
		n := []int{0, 1, 700, 30_000}[i%4]
		fps := keytest.Shapes[i%2].Make(r, max(n, 1))[:n]
		slices.Sort(fps)
		docs := make([]Document, n)
		for j, fp := range fps {
			docs[j] = Document{ID: fmt.Appendf(nil, "%d", j), HasFingerprint: true, Fingerprint: fp}
		}
		data, _ := buildTable(t, Params{Shingle: 3, Tokenizer: 1, Layout: DefaultLayout}, WriterOptions{}, docs)
		reader, err := OpenBytes(data, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		tables, all = append(tables, reader), append(all, fps)
	}
	s := new(GroupScratch)
	for _, k := range []int{0, 3, 6, 12, 64} {
		for range 10 {
			q := nearQuery(r, all[3])
			next := 0
			err := NearGroup(tables, q, k, s, func(i int, hits []Hit, stats NearStats) error {
				if i != next {
					t.Fatalf("table %d after %d", i, next)
				}
				next++
				got := slices.Clone(hits)
				sortHits(got)
				if want := bruteNear(all[i], q, k); !slices.Equal(got, want) {
					t.Fatalf("table %d, k %d: %d hits, want %d", i, k, len(got), len(want))
				}
				if len(all[i]) > 0 && stats.Candidates+stats.Probes+stats.Scans == 0 {
					t.Fatalf("table %d: no work was counted: %+v", i, stats)
				}
				return nil
			})
			if err != nil || next != len(tables) {
				t.Fatalf("%d of %d tables: %v", next, len(tables), err)
			}
		}
	}
	stop := errors.New("stop")
	if err := NearGroup(tables, 1, 3, s, func(i int, _ []Hit, _ NearStats) error {
		if i == 17 {
			return stop
		}
		return nil
	}); err != stop {
		t.Fatalf("an error of the callback comes back as %v", err)
	}
}
