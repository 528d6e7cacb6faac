package shard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

// Load builds a database from files, as simdb load does with these flags; the program must set it
// for the command build. Documents without a time are stored with the time at.
var Load func(ctx context.Context, flags []string, db string, files []string, at time.Time) (rejected int64, err error)

// build makes the table of a shard. Its bytes depend only on the inputs and the options.
func (j *Job) build(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	dir, done, err := j.tempDir()
	if err != nil {
		return err
	}
	defer done()
	paths, release, err := j.fetchAll(ctx, j.shardFiles(shard))
	path, rejected := filepath.Join(dir, "db"), int64(0)
	if err == nil {
		rejected, err = Load(ctx, j.o.Load, path, paths, j.o.Time)
	}
	err = errors.Join(err, release())
	if errors.Is(err, inputs.ErrRejected) {
		err = nil
	}
	if err != nil {
		return err
	}
	db, err := engine.Open(path, &engine.Options{MustExist: true})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("part-%05d.sst", shard)
	st, err := db.Stats()
	t := dedup.Tally{Outputs: []string{name}, Documents: int64(st.Documents), Rejected: rejected}
	if err := errors.Join(err, db.Pack(ctx, filepath.Join(dir, name), nil), db.Close()); err != nil {
		return err
	}
	if err := j.files.Put(ctx, filepath.Join(dir, name), j.workName("out/"+name)); err != nil {
		return err
	}
	rejects, err := filepath.Glob(filepath.Join(dir, "db.rejects*"))
	for _, path := range rejects {
		name := strings.Replace(filepath.Base(path), "db", name, 1)
		t.Outputs = append(t.Outputs, name)
		err = errors.Join(err, j.files.Put(ctx, path, j.workName("out/"+name)))
	}
	return errors.Join(err, j.storeJSON(ctx, shardName("written", shard), t), send(0, nil))
}
