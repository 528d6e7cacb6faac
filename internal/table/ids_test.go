package table

import (
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keytest"
)

func TestAppendIDs(t *testing.T) {
	rng := keytest.Rand("append ids", 0)
	docs := sortedDocs(testDocs(rng, 1000))
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, data)
	for range 50 {
		some := make([]uint32, rng.IntN(200))
		for i := range some {
			some[i] = rng.Uint32N(uint32(len(docs)))
		}
		slices.Sort(some)
		want := "before"
		wantEnds := []int{6}
		for _, doc := range some {
			want += string(docs[doc].ID)
			wantEnds = append(wantEnds, len(want))
		}
		got, ends, err := r.AppendIDs([]byte("before"), []int{6}, some)
		if err != nil || string(got) != want || !slices.Equal(ends, wantEnds) {
			t.Fatalf("IDs of %d documents: %q at %v, %v, want %q at %v", len(some), got, ends, err, want, wantEnds)
		}
	}
	if _, _, err := r.AppendIDs(nil, nil, []uint32{0, 1000}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("a document that does not exist: %v", err)
	}
}
