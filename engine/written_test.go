package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestRangeWritten lists documents in the order of writing: from written, loaded, merged and
// ingested tables, and from memtables, with replaced and deleted ones, in lots of any size.
func TestRangeWritten(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(7, 8))
	doc := func(i int) Doc {
		d := Doc{ID: fmt.Sprint("d", r.IntN(700)), Fields: fmt.Appendf(nil, `{"n":%d}`, i)}
		if r.IntN(9) > 0 {
			d.Text = strings.Repeat(fmt.Sprintf("text %d of %d ", r.IntN(50), i), 1+r.IntN(4))
		}
		if r.IntN(100) == 0 {
			d.Text = strings.Repeat(d.Text, 500)
		}
		return d
	}
	for _, memory := range []int64{1, 4000, 100_000, 0} {
		db := must.Get(Open(filepath.Join(t.TempDir(), "x.simdb"), &Options{Memory: memory, NoSync: true, MemtableBytes: 30_000, DisableAutoCompaction: true}))(t)
		other := must.Get(Open(filepath.Join(t.TempDir(), "y.simdb"), &Options{NoSync: true}))(t)
		for i := range 100 {
			put := doc(i)
			put.ID = fmt.Sprint("ingested", i)
			must.Do(t, other.Put(ctx, put))
		}
		table := filepath.Join(t.TempDir(), "y.sst")
		for _, err := range []error{other.Pack(ctx, table, nil), other.Close()} {
			must.Do(t, err)
		}
		for i := range 12 {
			for j := range 60 {
				must.Do(t, db.Put(ctx, doc(100*i+j)))
			}
			l := must.Get(db.NewLoader(ctx, &LoadOptions{Replace: true}))(t)
			for j := range 60 {
				must.Do(t, l.Add(doc(100*i+60+j)))
			}
			must.Get(l.Close())(t)
			db.Delete(ctx, fmt.Sprint("d", r.IntN(700)))
			switch i {
			case 4:
				must.Do(t, db.Compact(ctx, nil))
			case 7:
				must.Do(t, db.Ingest(ctx, table))
			}
			half := func(text, _ []byte) (bool, error) { return len(text)%2 == 0, nil }
			for _, r := range []Range{
				{Load: true}, {}, {Load: true, From: "d2", To: "d5"}, {Where: half}, {Load: true, Where: half, Prefix: "d1"},
			} {
				r.Unordered = true
				want := collect(t, db.Range(ctx, r))
				slices.SortFunc(want, func(a, b Doc) int { return cmp.Compare(a.Seq, b.Seq) })
				r.Unordered, r.Written = false, true
				if got := collect(t, db.Range(ctx, r)); !reflect.DeepEqual(got, want) {
					t.Fatalf("memory %d, round %d, %+v: %d documents, want %d", memory, i, r, len(got), len(want))
				}
			}
			n := 0
			for range db.Range(ctx, Range{Written: true, Load: true}) {
				if n++; n == 10 {
					break
				}
			}
		}
		must.Do(t, db.Close())
	}
}
