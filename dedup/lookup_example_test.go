package dedup_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// stored returns a database with two documents, and a file with two others.
func stored(dir string) (*inputs.Stored, *inputs.Sources) {
	ctx, env := context.Background(), &inputs.Env{}
	path, file := filepath.Join(dir, "docs.simdb"), filepath.Join(dir, "new.jsonl")
	err := engine.Build(path, func(db *engine.DB) error {
		if err := db.Put(ctx, engine.Doc{ID: "fox", Text: "the quick brown fox jumps over the lazy dog near the river"}); err != nil {
			return err
		}
		return db.Put(ctx, engine.Doc{ID: "cat", Text: "a cat sat on a mat and looked at a bird in a tree"})
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	lines := `{"id":"1","text":"The quick brown fox jumps over the lazy dog near a river"}` + "\n" + `{"id":"2","text":"something else that nobody has said before"}` + "\n"
	if err := os.WriteFile(file, []byte(lines), 0o666); err != nil {
		log.Fatal(err)
	}
	db, err := env.OpenStored(path, inputs.Access{})
	if err != nil {
		log.Fatal(err)
	}
	src, err := env.New(ctx, []string{file}, inputs.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return db, src
}

// For each line of a file, lists the stored documents that it resembles.
func ExampleNewJoin() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, src := stored(dir)
	defer db.Close(&err)
	join, err := dedup.NewJoin(ctx, &inputs.Env{}, src, dedup.JoinOptions{By: engine.Jaccard(0.6), Memory: 64 << 20, Stored: db})
	if err != nil {
		log.Fatal(err)
	}
	defer join.Close()
	for rows, err := range join.Rows(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range rows {
			fmt.Printf("%s resembles %s: %.2f\n", r.Query, r.ID, r.Score)
		}
	}
	fmt.Println(join.Matched, "of", join.Read)
	// Output:
	// 1 resembles fox: 0.67
	// 1 of 2
}

// out receives copies.
type out struct{ bytes.Buffer }

func (o *out) Close(failure error) error { return failure }

// Copies the lines of a file that resemble no stored document.
func ExampleNewMatch() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, src := stored(dir)
	defer db.Close(&err)
	fresh := &out{}
	match, err := dedup.NewMatch(ctx, &inputs.Env{}, src, db.DB, dedup.MatchOptions{
		By: engine.Jaccard(0.6), Memory: 64 << 20, Read: records.Options{MakeID: true},
		Open: func(outfile.Kind) (dedup.MatchOutput, error) { return fresh, nil },
	})
	if err == nil {
		err = match.Run(ctx)
	}
	if match.Close(err); err != nil {
		log.Fatal(err)
	}
	fmt.Print(fresh.String())
	// Output: {"id":"2","text":"something else that nobody has said before"}
}
