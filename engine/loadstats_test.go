package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestLoadStatsAddUp loads IDs repeatedly, over stored ones and over themselves, in many tables:
// the documents counted must be those in the database, and, together with those replaced, as many
// as were added and stored.
func TestLoadStatsAddUp(t *testing.T) {
	for _, c := range []struct{ stored, added, ids int }{{0, 3000, 1}, {0, 3000, 700}, {200, 3000, 400}, {50, 20, 20}} {
		for _, replace := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d over %d, %d IDs, replace %t", c.added, c.stored, c.ids, replace), func(t *testing.T) {
				db, _ := create4test(t, &Options{NoSketch: true})
				for i := range c.stored {
					put(t, db, fmt.Sprint(i), 1)
				}
				must.Do(t, db.Flush(context.Background()))
				var docs []Doc
				for i := range c.added {
					docs = append(docs, Doc{ID: fmt.Sprint(i % c.ids), Text: []string{"some words", "..."}[i%3%2]})
				}
				l, err := db.NewLoader(context.Background(), &LoadOptions{Replace: replace, MemoryBytes: 30_000, Workers: 1})
				must.Do(t, err)
				taken := 0
				for _, d := range docs {
					switch err := l.Add(d); {
					case err == nil:
						taken++
					case replace || !errors.Is(err, ErrExists):
						t.Fatal(err)
					}
				}
				st, err := l.Close()
				must.Do(t, err)
				there, bare := int64(0), int64(0)
				for _, e := range collect(t, entriesOf(context.Background(), db, Range{})) {
					if e.HasFingerprint && e.Fingerprint == 1 {
						continue
					}
					if there++; !e.HasFingerprint {
						bare++
					}
				}
				all := int64(len(ids(t, db)))
				if st.Documents != there || st.Empty != bare || all+st.Replaced != int64(c.stored+taken) {
					t.Errorf("%+v; %d loaded ones are there, %d of them empty, %d in all; %d were stored and %d added", st, there, bare, all, c.stored, taken)
				}
			})
		}
	}
}

// TestTimeOutOfRange stores documents with times inside and outside the range of 64-bit
// microseconds.
func TestTimeOutOfRange(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{NoSketch: true})
	for when, ok := range map[time.Time]bool{
		time.UnixMicro(math.MaxInt64): true, time.UnixMicro(math.MaxInt64).Add(999): true, time.UnixMicro(math.MinInt64): true,
		time.UnixMicro(math.MaxInt64).Add(time.Microsecond): false, time.UnixMicro(math.MinInt64).Add(-1): false,
		time.Unix(1<<60, 0): false, time.Unix(-1<<60, 0): false, time.Unix(math.MaxInt64/1_000_000*3, 5): false, {}: true,
		time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC): true,
	} {
		err := db.Put(ctx, Doc{ID: "a", Fingerprints: []Fingerprint{{1}}, Time: when})
		if ok != (err == nil) || !ok && !errors.Is(err, ErrInvalid) {
			t.Errorf("%v: %v", when, err)
		}
		if err != nil || when.IsZero() {
			continue
		}
		if got := storedEntry(t, db, "a").Time; got.UnixMicro() != when.UnixMicro() {
			t.Errorf("%v became %v", when, got)
		}
	}
	l := must.Get(db.NewLoader(ctx, &LoadOptions{Replace: true}))(t)
	defer l.Abort()
	if err := l.Add(Doc{ID: "a", Time: time.Unix(1<<60, 0)}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}
