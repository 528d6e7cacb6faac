package query

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// A serialTx is the statements of a transaction with their results.
type serialTx struct{ statements, results []string }

// serial carries out a statement on a map, as if nobody else used the database.
func serial(docs map[string]string, statement string) string {
	word, rest, _ := strings.Cut(statement, " ")
	id := strings.Trim(strings.TrimSuffix(rest, " SHOW n"), "'")
	switch word {
	case "GET":
		if n, ok := docs[id]; ok {
			return n
		}
		return "missing"
	case "COUNT":
		return fmt.Sprint(len(docs))
	case "DELETE":
		if _, ok := docs[id]; !ok {
			return "missing"
		}
		delete(docs, id)
		return "deleted"
	}
	var n string
	fmt.Sscanf(rest, `{"id":%3q,"n":%2s`, &id, &n)
	docs[id] = strings.TrimSuffix(n, "}")
	return "stored"
}

// TestSerializable runs transactions of three sessions side by side, which begin on a reader or on
// the writer. Every transaction that COMMIT accepts must have had the results that it has on its own
// after those accepted before it.
func TestSerializable(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(engine.Open(path, &engine.Options{NoSync: true, NoSketch: true, MemtableBytes: 10_000}))(t)
	defer db.Close()
	reader := must.Get(engine.Open(path, &engine.Options{ReadOnly: true}))(t)
	defer reader.Close()
	r := rand.New(rand.NewPCG(3, 1))
	var sessions [3]Session
	var txs [3]serialTx
	docs := map[string]string{}
	run := func(i int, db *engine.DB, text string) string {
		rows, err := sessions[i].Run(ctx, db, text)
		if errors.Is(err, engine.ErrNotFound) {
			return "missing"
		}
		if err != nil {
			return err.Error()
		}
		for row, err := range rows.All() {
			must.Do(t, err)
			return fmt.Sprint(row[0])
		}
		return rows.Message()
	}
	committed, conflicts := 0, 0
	for range 4000 {
		i := r.IntN(len(sessions))
		tx := &txs[i]
		if _, open := sessions[i].Pending(); !open {
			*tx = serialTx{}
			from := db
			if r.IntN(3) == 0 {
				if from = reader; reader.Refresh(ctx) != nil {
					t.Fatal("Refresh")
				}
			}
			if said := run(i, from, "BEGIN"); said != "begun" {
				t.Fatal(said)
			}
			continue
		}
		if r.IntN(4) > 0 {
			id := string(rune('a' + r.IntN(12)))
			text := "COUNT"
			switch n := r.IntN(20); {
			case n < 8:
				text = fmt.Sprintf("GET '%s' SHOW n", id)
			case n < 16:
				text = fmt.Sprintf(`PUT {"id":"%s","n":%d}`, id, r.IntN(100))
			case n < 19:
				text = fmt.Sprintf("DELETE '%s'", id)
			}
			tx.statements, tx.results = append(tx.statements, text), append(tx.results, run(i, db, text))
			continue
		}
		said := run(i, db, "COMMIT")
		if strings.Contains(said, "others have changed") {
			conflicts++
			continue
		}
		committed++
		next := maps.Clone(docs)
		var want []string
		for _, s := range tx.statements {
			want = append(want, serial(next, s))
		}
		writes := slices.ContainsFunc(want, func(s string) bool { return s == "stored" || s == "deleted" })
		if writes && !slices.Equal(tx.results, want) || !strings.HasPrefix(said, "committed") {
			t.Fatalf("%q: %q; on its own %q; %s", tx.statements, tx.results, want, said)
		}
		if writes {
			docs = next
		}
	}
	if committed < 100 || conflicts < 100 {
		t.Errorf("%d committed, %d conflicts", committed, conflicts)
	}
	for i := range sessions {
		sessions[i].Close()
	}
	if got := run(0, db, "COUNT"); got != fmt.Sprint(len(docs)) {
		t.Errorf("%s documents; want %d", got, len(docs))
	}
}
