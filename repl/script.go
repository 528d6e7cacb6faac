package repl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/simdb/simdb/query"
)

const (
	maxStatement = 512 << 20 // bytes of one statement: room for PUT of the largest text, all of it escaped
	maxDotLine   = 64 << 10  // bytes of a line with a dot-command
	readBuffer   = 64 << 10
)

// runText runs a text that is there as a whole: an argument of a command.
func (s *session) runText(text string) error {
	if isDot(text) {
		return s.dot(text)
	}
	var sp query.Splitter
	sp.Write(text)
	for {
		p, ok := sp.Next()
		if !ok {
			if p, ok = sp.Rest(); !ok {
				return nil
			}
		}
		if err := s.runPiece(p, ""); err != nil || s.quit {
			return err
		}
	}
}

// isDot says whether a line that starts no statement is a dot-command: a point and a letter.
func isDot(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && line[0] == '.' && (line[1] < '0' || line[1] > '9')
}

// runScript runs statements and dot-commands as they are read; source names the text in errors.
func (s *session) runScript(in io.Reader, source string) error {
	r := bufio.NewReaderSize(in, readBuffer)
	var sp query.Splitter
	pending, size, line := false, 0, 0
	for lineStart := true; ; {
		chunk, err := readChunk(r, lineStart && !pending)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading statements: %w", err)
		}
		if lineStart {
			line++
		}
		text := string(chunk)
		if lineStart && !pending && isDot(text) {
			if len(text) >= maxDotLine {
				return &scriptError{fmt.Errorf("a dot-command of more than %d bytes", maxDotLine), source, line}
			}
			sp.Write("\n") // keeps count of lines
			if err := s.dot(text); err != nil {
				if _, placed := errors.AsType[*scriptError](err); placed { // by a script of .read
					return err
				}
				return &scriptError{err, source, line}
			}
		} else {
			sp.Write(text)
			size += len(text)
			for p, ok := sp.Next(); ok; p, ok = sp.Next() {
				if err := s.runPiece(p, source); err != nil || s.quit {
					return err
				}
				size = 0
			}
			if size > maxStatement {
				return &scriptError{fmt.Errorf("a statement of more than %d bytes", maxStatement), source, line}
			}
			pending = size < readBuffer && sp.Pending() || size >= readBuffer
		}
		if s.quit {
			return nil
		}
		if errors.Is(err, io.EOF) {
			break
		}
		lineStart = strings.HasSuffix(text, "\n")
	}
	if p, ok := sp.Rest(); ok {
		return s.runPiece(p, source)
	}
	return nil
}

// readChunk returns text up to the end of the line, or less of a line of which no more has arrived: then a statement
// that is complete does not wait for the rest of its line. Only a dot-command, which may come where one is allowed, is
// a line. The text is valid until the next read.
func readChunk(r *bufio.Reader, dotAllowed bool) ([]byte, error) {
	first, err := r.Peek(1)
	if err != nil {
		return nil, err
	}
	if dotAllowed && (first[0] == '.' || first[0] == ' ' || first[0] == '\t') {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		return line, err
	}
	chunk, _ := r.Peek(r.Buffered())
	if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
		chunk = chunk[:i+1]
	}
	_, err = r.Discard(len(chunk))
	return chunk, err
}

// runPiece runs one statement of a text, and adds the line to its error.
func (s *session) runPiece(p query.Piece, source string) error {
	err := s.runStatement(p.Text)
	if err == nil {
		return nil
	}
	line := p.Line
	if e, ok := errors.AsType[*query.ParseError](err); ok {
		line += e.Line - 1
	}
	if line == 1 && source == "" {
		return err
	}
	return &scriptError{err, source, line}
}
