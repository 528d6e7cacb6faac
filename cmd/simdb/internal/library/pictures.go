package library

import (
	"context"
	"os"
	"runtime"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/pipeline"
)

// picture is a hashed picture, or the reason why there is none.
type picture struct {
	imagehash.Result
	err error
}

// pictures hashes files, each of which is a picture.
func pictures(ctx context.Context, r *Request) (*Reply, error) {
	var kind imagehash.Kind
	k := keywords{"kind": &kind}
	if err := k.set(r.Keywords); err != nil {
		return nil, err
	}
	columns := []*Column{newColumn("id", String), newColumn("fingerprint", String), newColumn("quality", Int), newColumn("width", Int), newColumn("height", Int),
		newColumn("format", String), newColumn("error", String)}
	workers := runtime.GOMAXPROCS(0)
	opt := imagehash.Options{Memory: imagehash.DefaultMemory / int64(workers)}
	err := pipeline.Ordered(ctx, len(r.Paths), workers, func(i int) (picture, error) {
		return hash(r.Paths[i], kind, opt), ctx.Err()
	}, func(i int, p picture) error {
		values := make([]any, len(columns))
		values[0] = r.IDs[i]
		if p.err != nil {
			values[6] = p.err.Error()
		} else {
			values = []any{r.IDs[i], string(base.AppendHexWords(nil, p.Hashes[0])), nil, p.Width, p.Height, p.Format, nil}
			if p.Quality >= 0 {
				values[2] = p.Quality
			}
			if p.Refused != nil {
				values[6] = p.Refused.Error()
			}
		}
		for i, c := range columns {
			if err := c.add(values[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return &Reply{Columns: columns, Values: map[string]any{"bits": kind.Bits(), "near": kind.Near()}}, err
}

// hash hashes a file.
func hash(path string, kind imagehash.Kind, opt imagehash.Options) (p picture) {
	f, err := os.Open(path)
	if err != nil {
		return picture{err: outfile.Cause(err)}
	}
	defer f.Close()
	opt.Name = path
	p.Result, p.err = imagehash.Hash(f, kind, opt)
	return p
}
