package units

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync/atomic"
)

// parts is the number of parts of units and n-grams, by the first byte of their hashes.
const parts = 256

// section is a part of a file: size bytes at an offset.
type section struct{ at, size int64 }

// A spool holds bytes for each part, in memory or in a temporary file.
type spool struct {
	create func() (*os.File, error)
	most   int64 // bytes in memory: of all parts, or with trimPart of each
	held   [parts][]byte
	in     [parts][]section
	file   *os.File // nil until it is needed
	size   atomic.Int64
}

func (s *spool) add(p int, b []byte) { s.held[p] = append(s.held[p], b...) }

// open creates the file.
func (s *spool) open() (err error) {
	if s.file == nil {
		s.file, err = s.create()
	}
	return err
}

// trim moves all bytes to the file if there are too many.
func (s *spool) trim() error {
	n := int64(0)
	for p := range parts {
		n += int64(len(s.held[p]))
	}
	if n < s.most {
		return nil
	}
	return s.empty()
}

// empty moves all bytes to the file.
func (s *spool) empty() error {
	err := s.open()
	for p := 0; p < parts && err == nil; p++ {
		err = s.flush(p)
	}
	return err
}

// settle moves all bytes to the file, if there is one, and frees their memory.
func (s *spool) settle() error {
	if s.file == nil {
		return nil
	}
	err := s.empty()
	s.held = [parts][]byte{}
	return err
}

// trimPart moves the bytes of a part to the file if there are too many. Several goroutines may call
// it for different parts, if the file is open.
func (s *spool) trimPart(p int) error {
	if int64(len(s.held[p])) < s.most {
		return nil
	}
	return s.flush(p)
}

func (s *spool) flush(p int) error {
	b := s.held[p]
	if len(b) == 0 {
		return nil
	}
	to := section{s.size.Add(int64(len(b))) - int64(len(b)), int64(len(b))}
	s.in[p], s.held[p] = append(s.in[p], to), b[:0]
	_, err := s.file.WriteAt(b, to.at)
	return err
}

// bytes returns the size of a part.
func (s *spool) bytes(p int) (n int64) {
	for _, in := range s.in[p] {
		n += in.size
	}
	return n + int64(len(s.held[p]))
}

// reader reads a part from its beginning.
func (s *spool) reader(p int) *bufio.Reader {
	var all []io.Reader
	for _, in := range s.in[p] {
		all = append(all, io.NewSectionReader(s.file, in.at, in.size))
	}
	return bufio.NewReaderSize(io.MultiReader(append(all, bytes.NewReader(s.held[p]))...), int(min(16<<10, s.bytes(p))))
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
