package dedup

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// digests computes the digests of the inputs while the first pass reads them, so that they are read
// from the disk once.
type digests struct {
	inputs []app.AuditInput
	tree   *contentDigest // of --files, of names and texts as they are read; else nil
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// newDigests starts with the inputs of a run, if there is an audit.
func (d *job) newDigests() *digests {
	ctx, cancel := context.WithCancel(d.a.Context())
	s := &digests{cancel: cancel}
	switch {
	case d.c.DryRun && d.replay == nil:
	case d.Tree != nil:
		s.inputs = []app.AuditInput{{File: input.ShownName(d.Names[0]), Bytes: new(d.Total)}}
		s.tree = &contentDigest{}
	default:
		s.done.Go(func() {
			for i, path := range d.Files {
				in, err := app.Digest(ctx, path)
				if in.File = input.ShownName(d.Names[i]); in.File == "-" {
					in.File = "stdin"
				}
				s.inputs, s.err = append(s.inputs, in), errors.Join(s.err, err)
			}
		})
	}
	return s
}

// add takes a document of the first pass.
func (s *digests) add(rec *input.Record) {
	if s.tree != nil {
		s.tree.add(rec.File, rec.Doc.Text, 0)
	}
}

// wait returns the inputs with their digests, after the first pass.
func (s *digests) wait() ([]app.AuditInput, error) {
	s.done.Wait()
	if s.tree != nil {
		s.inputs[0].XXH3 = s.tree.sum()
	}
	return s.inputs, s.err
}

// contentDigest is a digest of documents. The zero value is of none. A copy continues by itself.
type contentDigest struct{ h xxh3.Hasher }

// add adds a document: a name, a text and a number.
func (c *contentDigest) add(name, text string, n uint64) {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], uint64(len(name)))
	binary.LittleEndian.PutUint64(b[8:], uint64(len(text)))
	binary.LittleEndian.PutUint64(b[16:], n)
	c.h.Write(b[:])
	c.h.WriteString(name)
	c.h.WriteString(text)
}

// sum returns the digest as an audit has it.
func (c *contentDigest) sum() *string {
	sum := c.h.Sum128().Bytes()
	return new(hex.EncodeToString(sum[:]))
}

// stop ends what is under way.
func (s *digests) stop() {
	s.cancel()
	s.done.Wait()
}
