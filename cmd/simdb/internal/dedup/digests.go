package dedup

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/zeebo/xxh3"
)

// auditInput is a file that was read: its size, and the XXH3 of its bytes, 128 bits in hexadecimal.
type auditInput struct {
	File  string  `json:"file"`
	Bytes int64   `json:"bytes"`
	XXH3  *string `json:"xxh3"` // null for a folder
}

// digests computes the digests of the inputs while the first pass reads them, so that they are read
// from the disk once.
type digests struct {
	inputs []auditInput
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// newDigests starts with the inputs of a run, if there is an audit.
func (d *job) newDigests() *digests {
	ctx, cancel := context.WithCancel(d.a.Context())
	s := &digests{cancel: cancel}
	switch {
	case d.auditTo == nil:
	case d.src.Tree != nil:
		s.inputs = []auditInput{{File: d.names[0], Bytes: d.src.Total}}
	default:
		s.done.Go(func() {
			for i, path := range d.files {
				in, err := digest(ctx, path)
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
func (s *digests) wait() ([]auditInput, error) {
	s.done.Wait()
	return s.inputs, s.err
}

// stop ends what is under way.
func (s *digests) stop() {
	s.cancel()
	s.done.Wait()
}

// digest reads a file.
func digest(ctx context.Context, path string) (auditInput, error) {
	var in auditInput
	f, err := os.Open(path)
	if err != nil {
		return in, err
	}
	defer f.Close()
	h := xxh3.New()
	buf := make([]byte, 256<<10)
	for {
		n, err := f.Read(buf)
		in.Bytes += int64(n)
		h.Write(buf[:n])
		switch {
		case err == io.EOF:
			sum := h.Sum128().Bytes()
			in.XXH3 = new(hex.EncodeToString(sum[:]))
			return in, nil
		case err != nil:
			return in, err
		case ctx.Err() != nil:
			return in, context.Cause(ctx)
		}
	}
}
