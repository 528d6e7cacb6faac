package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// contentDB returns a database, and its visible documents. It has a memtable and two tables, the
// larger with several parts and more documents than are tried one by one. Some documents were
// replaced or deleted, and some in the smaller table have expired.
func contentDB(t *testing.T) (*DB, map[string]Doc) {
	t.Helper()
	start := time.Unix(1_000_000, 0)
	now, pass := passing(start)
	db, _ := create4test(t, &Options{
		Index: []string{"n"}, NoSketch: true, NoSync: true, DisableAutoCompaction: true, TTL: 1000 * time.Hour, now: now,
	})
	r := rand.New(rand.NewPCG(9, 6))
	want := map[string]Doc{}
	doc := func(version int) Doc {
		d := at(fmt.Sprintf("%c/%d", "abx"[r.IntN(3)], r.IntN(6000)), start.Add(time.Duration(20*min(version, 1)+r.IntN(80))*time.Hour).Unix())
		d.Text, d.Fields = fmt.Sprint(version), json.RawMessage(fmt.Sprintf(`{"n":%d}`, r.IntN(1000)))
		want[d.ID] = d
		return d
	}
	for version, n := range []int{700, 9000} {
		var docs []Doc
		for range n {
			docs = append(docs, doc(version))
		}
		loadStored(t, db, docs...)
	}
	var b Batch
	for range 500 {
		d := doc(2)
		if b.Put(d); r.IntN(4) == 0 {
			b.Delete(d.ID)
			delete(want, d.ID)
		}
	}
	must.Do(t, db.Apply(t.Context(), &b))
	pass(1010 * time.Hour)
	for id, d := range want {
		if d.Time.Before(now().Add(-1000 * time.Hour)) {
			delete(want, id)
		}
	}
	return db, want
}

// TestEntriesByContent filters by text and fields, and by ID and time, and compares with all
// documents.
func TestEntriesByContent(t *testing.T) {
	db, want := contentDB(t)
	r := rand.New(rand.NewPCG(7, 6))
	s := snapshot4test(t, db)
	for try := range 80 {
		f := Range{Prefix: []string{"", "", "a", "b/1", "c", "x/77"}[r.IntN(6)], Unordered: r.IntN(3) == 0, Load: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			f.Since = time.Unix(1_000_000, 0).Add(time.Duration([]int{0, 50, 97, 200}[r.IntN(4)]) * time.Hour)
		}
		end := ""
		if r.IntN(3) == 0 {
			end = []string{"1", "42"}[r.IntN(2)]
			f.Match = func(id []byte) (bool, error) { return strings.HasSuffix(string(id), end), nil }
		}
		below := []int{1, 10, 500, 1000}[try%4]
		holds := func(text, fields []byte) bool {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(string(fields), `{"n":`), "}"))
			if err != nil || len(text) != 1 {
				t.Fatalf("%s, %q: %v", fields, text, err)
			}
			return n < below
		}
		if f.Where = func(text, fields []byte) (bool, error) { return holds(text, fields), nil }; f.Load && r.IntN(3) == 0 {
			f.Where, below = nil, 1000
		}
		if r.IntN(2) == 0 { // by the index if few documents have such a value
			f.Fields = [][]FieldRange{{{Field: "n", To: fmt.Sprint(below - 1), Numbers: true}}}
			if r.IntN(2) == 0 {
				f.Where = nil
			}
		}
		var selected []string
		for id, d := range want {
			if strings.HasPrefix(id, f.Prefix) && strings.HasSuffix(id, end) && !d.Time.Before(f.Since) && holds([]byte(d.Text), d.Fields) {
				selected = append(selected, id)
			}
		}
		slices.Sort(selected)
		if f.Reverse = r.IntN(3) == 0; f.Reverse && !f.Unordered {
			slices.Reverse(selected)
		}
		stop := len(selected) + 1
		if !f.Unordered && r.IntN(2) == 0 {
			stop = 1 + r.IntN(40)
		}
		if f.Limit = 0; r.IntN(2) == 0 {
			f.Limit = stop
		}
		var got []string
		for e, err := range s.Range(t.Context(), f) {
			must.Do(t, err)
			whole := e.Text == want[e.ID].Text && string(e.Fields) == string(want[e.ID].Fields)
			if !f.Load && e.Text+string(e.Fields) != "" || f.Load && !whole {
				t.Fatalf("%+v: %+v, want %+v", f, e, want[e.ID])
			}
			if !e.Time.Equal(want[e.ID].Time) {
				t.Fatalf("%+v: %+v, want the time %v", f, e, want[e.ID].Time)
			}
			if got = append(got, e.ID); len(got) == stop {
				break
			}
		}
		if f.Unordered {
			slices.Sort(got)
		}
		equal(t, fmt.Sprintf("%d, below %d, ends in %q: %+v", try, below, end, f), got, selected[:min(stop, len(selected))])
	}
}

// TestEntriesByContentStops checks how much is read: the first of many matches in order of ID do
// not need all texts, few matches need at most one scan after the first attempts, and a filter by
// time or ID reads no other document's text.
func TestEntriesByContentStops(t *testing.T) {
	db, want := contentDB(t)
	s := snapshot4test(t, db)
	looked := 0
	look := func(f Range, every int) {
		t.Helper()
		looked = 0
		f.Where = func(_, _ []byte) (bool, error) { looked++; return every > 0 && looked%every == 0, nil }
		rows := 0
		for _, err := range entriesIn(t.Context(), s, f) {
			must.Do(t, err)
			if rows++; rows == 5 {
				return
			}
		}
	}
	if look(Range{Limit: 5}, 2); looked != 10 {
		t.Errorf("%d documents looked at for 5 of every second", looked)
	}
	if look(Range{}, 0); looked < len(want) || looked > len(want)+len(want)/100 {
		t.Errorf("%d documents looked at for none of %d", looked, len(want))
	}
	for _, unordered := range []bool{false, true} {
		n := 0
		since := time.Unix(1_000_000, 0).Add(98 * time.Hour)
		for id, d := range want {
			if strings.HasPrefix(id, "a") && strings.HasSuffix(id, "1") && !d.Time.Before(since) {
				n++
			}
		}
		match := func(id []byte) (bool, error) { return strings.HasSuffix(string(id), "1"), nil }
		look(Range{Prefix: "a", Since: since, Match: match, Unordered: unordered}, 0)
		if looked < n || looked > 2*n || n == 0 {
			t.Errorf("unordered %t: %d documents looked at, of which %d may be selected", unordered, looked, n)
		}
	}
}
