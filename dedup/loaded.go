package dedup

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// repeated precedes a number in the IDs of loaded documents that repeat an ID.
const repeated = "\x00again "

// loadedID returns the ID that a loaded document has in its file.
func loadedID(id string) string {
	id, _, _ = strings.Cut(id, repeated)
	return id
}

// LoadFiles loads the documents of files into a new database at path, which takes memory bytes to build.
// All documents are loaded, also those that repeat an ID: they get others, which a Match of Loaded
// knows.
func LoadFiles(ctx context.Context, env *inputs.Env, src *inputs.Sources, path string, how inputs.Access, read inputs.Reading, memory int64) (err error) {
	how.Write, how.Create = true, true
	db, err := env.OpenDB(path, how)
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	loader, err := db.NewLoader(ctx, &engine.LoadOptions{MemoryBytes: memory})
	if err != nil {
		return err
	}
	seen := map[uint64]int{}          // by hash of an ID: documents. Equal hashes only make a number unnecessary
	read.Options.Orientations = false // those of the pictures that are compared with them suffice
	read.Record = func(in records.Source, rec *records.Record) error {
		if rec.Flaw != "" {
			return records.NewIssue(in, rec, rec.Flaw)
		}
		hash := xxh3.HashString(rec.Doc.ID)
		if seen[hash]++; seen[hash] > 1 {
			rec.Doc.ID += repeated + strconv.Itoa(seen[hash])
		}
		return loader.Add(rec.Doc)
	}
	err = env.EachInput(ctx, src, read)
	_, failed := loader.Close()
	return cmp.Or(err, failed)
}
