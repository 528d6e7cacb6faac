package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
)

// TestOpenCancelled opens databases whose caller gets no reply, or no longer waits for it. They
// must not stay open and locked.
func TestOpenCancelled(t *testing.T) {
	var l Library
	path := filepath.Join(t.TempDir(), "x.simdb")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Run(ended, &Request{Op: "open", DB: 1, Path: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the end: %v", err)
	}
	if len(l.dbs) > 0 {
		t.Errorf("%d databases are open", len(l.dbs))
	}
	for range 2 { // the reply is lost, and the caller closes the number that may be open
		if _, err := l.Run(t.Context(), &Request{Op: "open", DB: 7, Path: path}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Run(t.Context(), &Request{Op: "open", DB: 7, Path: path + "2"}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("a number twice: %v", err)
		}
		if _, err := l.Run(ended, &Request{Op: "close", DB: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Run(t.Context(), &Request{Op: "query", DB: 7}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("used after it was closed: %v", err)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}

// TestKeywords describes a dedup by keywords.
func TestKeywords(t *testing.T) {
	for given, want := range map[string]string{
		`{"jaccard": "75%", "keep": ["max:score", "last"], "text": ["title", "body"], "mask": "numbers", "near": null, "no_header": false}`: "JACCARD 0.75 max:score,last title,body [numbers] []",
		`{"near": 3, "keep": "longest", "shingle": 2, "against": ["a", "b"]}`:                                                               "NEAR 3 longest  [] []",
		`{"near": 3, "fold": ["case", "greek"]}`:                                                                                            "NEAR 3   [] [case greek]",
		`{"near": 3, "fold": "case,greek"}`:                                                                                                 "NEAR 3   [] [case greek]",
		`{"rule": "a.x = b.x", "agree": ["dates"]}`:                                                                                         "none   [] [] a.x = b.x [dates]",
		`{"near": 3, "rule": "a.x = b.x"}`:                                                                                                  "near and rule contradict each other",
		`{"near": 3, "jaccard": 0.5}`:                                                                                                       "jaccard and near contradict each other",
		`{"jaccard": true}`:                                                                                                                 `jaccard: "true": T is a share above 0 and up to 1, such as 0.8 or 80%`,
		`{"min_count": "x"}`:                                                                                                                `min_count: "x" is not a valid int`,
		`{"jacard": 1}`:                                                                                                                     "unknown keyword jacard, did you mean jaccard?",
		`{"files": true}`:                                                                                                                   "unknown keyword files",
		`{"audit": "a.jsonl"}`:                                                                                                              "audit: a run on a table writes no files; the result has the mask and the audit",
		`{"text_field": "x"}`:                                                                                                               "unknown keyword text_field, did you mean text?",
		`{"id_field": "x"}`:                                                                                                                 "unknown keyword id_field, did you mean id?",
		`{"threshold": 0.8}`:                                                                                                                "unknown keyword threshold, did you mean jaccard?",
	} {
		var r Request
		if err := json.Unmarshal([]byte(given), &r.Keywords); err != nil {
			t.Fatal(err)
		}
		j, err := r.job()
		got := fmt.Sprint(j.By, " ", j.Keep, " ", j.Read.TextField, " ", j.Compared.Features.Mask, j.Compared.Features.Fold)
		if j.Rule != nil {
			got += fmt.Sprint(" ", j.Rule, " ", j.Agree)
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

// TestDedupColumns adds the words that differ to the audit.
func TestDedupColumns(t *testing.T) {
	r := &Request{Op: "dedup", Docs: map[string]string{TableName: `{"id":"a","text":"one two three four five six seven eight nine"}
{"id":"b","text":"one two three four five six seven eight ten"}
`}}
	for columns, want := range map[string]string{`["lacks","adds"]`: "lacks [nine] adds [ten]", `"adds"`: "adds [ten]", `null`: ""} {
		r.Keywords = map[string]json.RawMessage{"jaccard": json.RawMessage("0.5"), "columns": json.RawMessage(columns)}
		reply, err := new(Library).Run(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range reply.Columns[10:] {
			got = append(got, fmt.Sprintf("%s [%s]", c.Name, c.Data))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", columns, got, want)
		}
	}
	r.Keywords["columns"] = json.RawMessage(`"cluster"`)
	if _, err := new(Library).Run(t.Context(), r); err == nil || !strings.Contains(err.Error(), "lacks and adds can be added") {
		t.Errorf("cluster: %v", err)
	}
}

// TestQuestions asks about pairs of documents that are read once, and learns from the answers.
func TestQuestions(t *testing.T) {
	var lines strings.Builder
	for i := range 12 {
		for _, end := range []string{"red", "red paint", "blue"} {
			fmt.Fprintf(&lines, `{"text":"door number %d of the house, made of wood and glass, with %d panes, painted %s"}`+"\n", i, i, end)
		}
	}
	var l Library
	docs := map[string]string{TableName: lines.String()}
	run := func(r *Request) (map[string]any, error) {
		reply, err := l.Run(t.Context(), r)
		if err != nil {
			return nil, err
		}
		values, _ := reply.Values.(map[string]any)
		return values, nil
	}
	if _, err := run(&Request{Op: "questions", DB: 3, Docs: docs}); err != nil {
		t.Fatal(err)
	}
	if _, err := run(&Request{Op: "questions", DB: 3, Docs: docs}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a number twice: %v", err)
	}
	if _, err := run(&Request{Op: "open", DB: 3, Path: filepath.Join(t.TempDir(), "x.simdb")}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("the number of questions for a database: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Run(ended, &Request{Op: "questions", DB: 4, Docs: docs}); !errors.Is(err, context.Canceled) || len(l.corpora) != 1 {
		t.Errorf("read after the end: %v, %d are open", err, len(l.corpora))
	}
	seen := map[string]bool{}
	var labels, skipped []learn.Label
	for n := 0; ; n++ {
		values, err := run(&Request{Op: "ask", DB: 3, Labels: labels, Skipped: skipped})
		if err != nil {
			t.Fatal(err)
		}
		p, ok := values["pair"].(map[string]any)
		if !ok {
			break
		}
		label := learn.Label{A: p["a"].(string), B: p["b"].(string)}
		if seen[label.A] || seen[label.B] || len(p["lines"].([]string)) == 0 {
			t.Fatalf("%v after %v", p, seen)
		}
		seen[label.A], seen[label.B] = true, true
		if n%3 == 0 {
			skipped = append(skipped, label)
		} else {
			labels = append(labels, label)
		}
	}
	if len(labels) < 2 || len(skipped) < 2 {
		t.Fatalf("%d labels, %d skipped", len(labels), len(skipped))
	}
	open, err := run(&Request{Op: "learn", DB: 3, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	once, err := run(&Request{Op: "learn", Docs: docs, Labels: labels})
	if err != nil || once["rule"] != open["rule"] || once["right"] != open["right"] || once["labels"] != len(labels) {
		t.Errorf("%v, %v, want %v", once, err, open)
	}
	if _, err := run(&Request{Op: "close", DB: 3}); err != nil {
		t.Error(err)
	}
	if _, err := run(&Request{Op: "ask", DB: 3}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("asked after the end: %v", err)
	}
	for _, keyword := range []string{"ignore", "weights", "set_field", "features_field", "ignore_common", "bits"} {
		value := map[string]string{"ignore_common": "0.5", "bits": "128"}[keyword]
		r := &Request{Op: "learn", Docs: docs, Labels: labels, Keywords: map[string]json.RawMessage{keyword: json.RawMessage(cmp.Or(value, `"x"`))}}
		if _, err := run(r); err == nil || !strings.HasSuffix(err.Error(), " cannot be used with learn: a rule does not know it") {
			t.Errorf("%s: %v", keyword, err)
		}
	}
}
