package shard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records/inputs"
)

// buildCommand are the flags of build: those of simdb load, and -o DIR/.
type buildCommand struct {
	Output string `short:"o" required:""`
	loading.Load
}

// checkBuild returns an error if the flags are not for tables that many workers build.
func (j *Job) checkBuild() error {
	switch c := j.load; {
	case !outfile.IsFolderName(c.Output):
		return fmt.Errorf("-o %s: many workers write a table for each shard: name a folder, -o DIR/", c.Output)
	case c.OfFiles(), c.Resume, c.OnConflict != "replace", c.Rejects != "":
		return errors.New("--files, --images, --resume, --on-conflict and --rejects are for one machine")
	}
	return nil
}

// build makes the table of a shard. Its bytes depend on the inputs and the options alone.
func (j *Job) build(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	dir, done, err := j.tempDir()
	if err != nil {
		return err
	}
	defer done()
	c := j.load.Load
	c.DB, c.Files, c.Else = filepath.Join(dir, "db"), nil, j.o.Time
	var release []func() error
	for _, name := range j.shardFiles(shard) {
		path, done, err := j.files.Fetch(ctx, name)
		if err != nil {
			return err
		}
		c.Files, release = append(c.Files, path), append(release, done)
	}
	err = c.Run(j.app)
	for _, f := range release {
		err = errors.Join(err, f())
	}
	if errors.Is(err, inputs.ErrRejected) {
		err = nil
	}
	if err != nil {
		return err
	}
	db, err := engine.Open(c.DB, &engine.Options{MustExist: true})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("part-%05d.sst", shard)
	st, err := db.Stats()
	t := dedup.Tally{Outputs: []string{name}, Documents: int64(st.Documents), Rejected: c.Rejected}
	if err := errors.Join(err, db.Pack(ctx, filepath.Join(dir, name)), db.Close()); err != nil {
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
