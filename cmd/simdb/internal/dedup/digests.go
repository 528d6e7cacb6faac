package dedup

import (
	"context"
	"errors"
	"sync"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
)

// digests computes the digests of the inputs while the first pass reads them, so that they are read
// from the disk once.
type digests struct {
	inputs []app.AuditInput
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// newDigests starts with the inputs of a run, if there is an audit.
func (d *job) newDigests() *digests {
	ctx, cancel := context.WithCancel(d.a.Context())
	s := &digests{cancel: cancel}
	switch {
	case d.c.DryRun && d.replay == nil && !d.c.Resume:
	case d.src.Tree != nil:
		s.inputs = []app.AuditInput{{File: d.names[0], Bytes: new(d.src.Total)}}
	default:
		s.done.Go(func() {
			for i, path := range d.files {
				in, err := app.Digest(ctx, path)
				if in.File = d.names[i]; in.File == "-" {
					in.File = "stdin"
				}
				s.inputs, s.err = append(s.inputs, in), errors.Join(s.err, err)
			}
		})
	}
	return s
}

// wait returns the inputs with their digests.
func (s *digests) wait() ([]app.AuditInput, error) {
	s.done.Wait()
	return s.inputs, s.err
}

// stop ends what is under way.
func (s *digests) stop() {
	s.cancel()
	s.done.Wait()
}
