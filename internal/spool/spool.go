// Package spool holds bytes for each of 256 parts, in memory or in a temporary file: a Spool.
package spool

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync/atomic"
)

// Parts is the number of parts: one for each first byte of a hash.
const Parts = 256

// section is a part of a file: size bytes at an offset.
type section struct{ at, size int64 }

// A Spool holds bytes for each part. It is not safe for concurrent use, except as TrimPart says.
type Spool struct {
	Most int64         // bytes in memory: of all parts, or with TrimPart of each
	Held [Parts][]byte // by part: the bytes in memory, which follow those in the file

	create func() (*os.File, error)
	in     [Parts][]section
	file   *os.File // nil until it is needed
	size   atomic.Int64
}

// New returns an empty Spool that holds about most bytes in memory. create creates its file, once
// they exceed that. Close frees the file.
func New(most int64, create func() (*os.File, error)) *Spool {
	return &Spool{Most: most, create: create}
}

// Add appends bytes to a part in memory.
func (s *Spool) Add(p int, b []byte) { s.Held[p] = append(s.Held[p], b...) }

// InFile reports whether there is a file.
func (s *Spool) InFile() bool { return s.file != nil }

// Open creates the file, if there is none.
func (s *Spool) Open() (err error) {
	if s.file == nil {
		s.file, err = s.create()
	}
	return err
}

// Trim moves all bytes to the file if they are Most or more.
func (s *Spool) Trim() error {
	n := int64(0)
	for p := range Parts {
		n += int64(len(s.Held[p]))
	}
	if n < s.Most {
		return nil
	}
	return s.empty()
}

// empty moves all bytes to the file.
func (s *Spool) empty() error {
	err := s.Open()
	for p := 0; p < Parts && err == nil; p++ {
		err = s.flush(p)
	}
	return err
}

// Settle moves all bytes to the file, if there is one, and frees their memory.
func (s *Spool) Settle() error {
	if s.file == nil {
		return nil
	}
	err := s.empty()
	s.Held = [Parts][]byte{}
	return err
}

// TrimPart moves the bytes of a part to the file if they are Most or more. Several goroutines may call
// it for different parts, if the file is open.
func (s *Spool) TrimPart(p int) error {
	if int64(len(s.Held[p])) < s.Most {
		return nil
	}
	return s.flush(p)
}

func (s *Spool) flush(p int) error {
	b := s.Held[p]
	if len(b) == 0 {
		return nil
	}
	to := section{s.size.Add(int64(len(b))) - int64(len(b)), int64(len(b))}
	s.in[p], s.Held[p] = append(s.in[p], to), b[:0]
	_, err := s.file.WriteAt(b, to.at)
	return err
}

// Bytes returns the size of a part.
func (s *Spool) Bytes(p int) (n int64) {
	for _, in := range s.in[p] {
		n += in.size
	}
	return n + int64(len(s.Held[p]))
}

// Reader reads a part from its beginning.
func (s *Spool) Reader(p int) *bufio.Reader {
	var all []io.Reader
	for _, in := range s.in[p] {
		all = append(all, io.NewSectionReader(s.file, in.at, in.size))
	}
	return bufio.NewReaderSize(io.MultiReader(append(all, bytes.NewReader(s.Held[p]))...), int(min(16<<10, s.Bytes(p))))
}

// Close frees the file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
