package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// TestLoadSums loads runs of equal texts, among others of the same length, without words, empty, or
// with given fingerprints: every document must have the fingerprint and sketch of its own text.
func TestLoadSums(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for _, o := range []Options{{}, {NoSketch: true}, {NoText: true}} {
		o.NoSync = true
		db, _ := create4test(t, &o)
		l := must.Get(db.NewLoader(t.Context(), &LoadOptions{Replace: true}))(t)
		docs := map[string]Doc{}
		some := []string{"", "...", "one two three four", "one two three fire", "four three two one", "!!!"}
		for text := ""; len(docs) < 1500; {
			if r.IntN(4) == 0 {
				text = some[r.IntN(len(some))]
			}
			d := Doc{ID: fmt.Sprint(r.IntN(2000)), Text: text}
			if r.IntN(5) == 0 {
				d.Fingerprints = []Fingerprint{{r.Uint64()}}
			}
			must.Do(t, l.Add(d))
			docs[d.ID] = d
		}
		must.Get(l.Close())(t)
		checkSums(t, db, docs)
	}
}

// checkSums compares fingerprints, sketches and texts with those computed one by one.
func checkSums(t *testing.T, db *DB, docs map[string]Doc) {
	t.Helper()
	s := snapshot4test(t, db)
	for id, d := range docs {
		p := must.Get(s.v.Locate(id))(t)
		var got table.Document
		must.Do(t, p.Part.Document(p.Doc, &got))
		var s view.Sums
		db.s.Texts.Sum(&s, d.Text)
		fp, words, sketch := s.Fingerprint, s.Words, s.Sketch
		if d.Fingerprints != nil {
			fp, words = d.Fingerprints[0][0], true
		}
		if got.HasFingerprint != words || got.Fingerprint != fp || !slices.Equal(got.Sketch, sketch) {
			t.Fatalf("%q has fingerprint %x, %v and %d hashes; want %x, %v and %d", d.Text,
				got.Fingerprint, got.HasFingerprint, len(got.Sketch), fp, words, len(sketch))
		}
		if db.s.Params.StoreText && string(got.Text) != d.Text {
			t.Fatalf("the document of text %q has %q", d.Text, got.Text)
		}
		scratch := []byte("of another")
		if text, err := p.Text(&scratch); err != nil || !bytes.Equal(text, got.Text) {
			t.Fatalf("text %q, want %q, %v", text, got.Text, err)
		}
	}
}
