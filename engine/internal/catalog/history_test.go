package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestHistory adds removals in several edits, with limits, and reads them back.
func TestHistory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, vfs.Disk, name, State{History: new(History), FirstWAL: 1})
	c, _ := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	const most = 1 << 20
	var many []Removal
	for seq := range uint64(20000) {
		many = append(many, Removal{ID: fmt.Append(nil, "document", seq), Seq: 100 + seq})
	}
	for i, step := range []struct {
		removed []Removal
		limit   int64
		gone    uint64
		want    []string
	}{
		{[]Removal{{ID: []byte("a"), Seq: 5}, {ID: []byte("b"), Seq: 7, Expired: true}}, most, 0, []string{"a 5 false", "b 7 true"}},
		{[]Removal{{ID: []byte("c"), Seq: 6}}, most, 0, []string{"a 5 false", "c 6 false", "b 7 true"}}, // a flush after a prune
		{[]Removal{{ID: []byte("d"), Seq: 9}}, 9, 6, []string{"b 7 true", "d 9 false"}},
		{[]Removal{{Seq: 12}}, most, 12, nil},
		{[]Removal{{ID: []byte("e"), Seq: 13}}, most, 12, []string{"e 13 false"}},
		{[]Removal{{ID: []byte("f"), Seq: 14}}, 0, 14, nil},
		{many, most, 14, nil},
	} {
		must.Do(t, c.Apply(Edit{Removed: step.removed, HistoryLimit: step.limit}))
		s, _, err := Read(vfs.Disk, name)
		must.Do(t, err)
		last := step.removed[len(step.removed)-1].Seq
		for _, h := range []*History{s.History, c.History()} {
			all := h.After(h.Gone)
			slices.SortFunc(all, func(a, b Removal) int { return int(a.Seq) - int(b.Seq) })
			if len(step.removed) == len(many) {
				if !slices.EqualFunc(all, many, func(a, b Removal) bool { return string(a.ID) == string(b.ID) && a.Seq == b.Seq }) {
					t.Errorf("step %d: %d removals", i, len(all))
				}
				if tail := h.After(last - 1); len(tail) == 0 || len(tail) > len(many)/4 {
					t.Errorf("%d removals were decoded for the last one", len(tail))
				}
				continue
			}
			var got []string
			for _, r := range all {
				if r.Seq > h.Gone {
					got = append(got, fmt.Sprintf("%s %d %v", r.ID, r.Seq, r.Expired))
				}
			}
			if h.Gone != step.gone || !slices.Equal(got, step.want) || s.LastSeq < last {
				t.Errorf("step %d: after %d %v, instead of after %d %v; last number %d", i, h.Gone, got, step.gone, step.want, s.LastSeq)
			}
		}
	}
}

// TestHistoryUnknown reads a catalog without a history: nothing before its last number is known.
func TestHistoryUnknown(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, vfs.Disk, name, State{FlushedSeq: 3, LastSeq: 8})
	c, s := mustOpen(t, vfs.Disk, name)
	defer c.Close()
	if s.KnownHistory().Gone != 8 {
		t.Errorf("known after %d", s.KnownHistory().Gone)
	}
	must.Do(t, c.Apply(Edit{Removed: []Removal{{ID: []byte("a"), Seq: 9}}, HistoryLimit: 100}))
	if s, _, err := Read(vfs.Disk, name); err != nil || s.History == nil || s.History.Gone != 8 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestMalformedHistory decodes records whose checksums are right, and their contents wrong.
func TestMalformedHistory(t *testing.T) {
	at := []byte{0, 0, 0, 0, 0, 0, 0, 5}
	good := appendRemoval(nil, Removal{ID: []byte("id"), Seq: 5})
	if err := new(State).decodeRemoved(at, good); err != nil {
		t.Error(err)
	}
	for _, payload := range [][]byte{good[:1], good[:3], {10, 0}, {0xff}, append(slices.Clone(good), 0xff), appendRemoval(nil, Removal{ID: []byte("id"), Seq: 4})} {
		if err := new(State).decodeRemoved(at, payload); err == nil {
			t.Errorf("%x was accepted", payload)
		}
	}
	if err := new(State).decodeRemoved(at[1:], good); err == nil {
		t.Error("a short key was accepted")
	}
}
