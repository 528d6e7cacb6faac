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
	maxStatement = 512 << 20 // bytes of a statement: PUT of the largest text, all of it escaped
	maxDotLine   = 64 << 10  // bytes of a line with a dot-command
	readBuffer   = 64 << 10
)

// isDot reports whether a line between statements is a dot-command: it starts with a point that no
// digit follows.
func isDot(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && line[0] == '.' && (line[1] < '0' || line[1] > '9')
}

// runScript runs statements and dot-commands as they are read. source names the text in errors.
func (s *session) runScript(in io.Reader, source string) error {
	r := bufio.NewReaderSize(in, readBuffer)
	sc := script{session: s, source: source}
	for lineStart := true; !s.quit; {
		chunk, err := readChunk(r, lineStart && !sc.pending)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading statements: %w", err)
		}
		if lineStart {
			sc.line++
		}
		text := string(chunk)
		if lineStart && !sc.pending && isDot(text) {
			if err := sc.dotLine(text); err != nil {
				return err
			}
		} else if err := sc.text(text); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		lineStart = strings.HasSuffix(text, "\n")
	}
	if p, ok := sc.splitter.Rest(); ok && !s.quit {
		return s.runPiece(p, source)
	}
	return nil
}

// script is a text that is being read and run.
type script struct {
	*session
	source   string
	splitter query.Splitter
	line     int  // of the text just read
	size     int  // bytes of the incomplete statement
	pending  bool // there is an incomplete statement, so a line is not a dot-command
}

// dotLine runs a dot-command.
func (sc *script) dotLine(line string) error {
	if len(line) >= maxDotLine {
		return inScript(fmt.Errorf("a dot-command of more than %d bytes", maxDotLine), sc.source, sc.line)
	}
	sc.splitter.Write("\n") // so that it counts the line
	err := sc.dot(line)
	if _, placed := errors.AsType[*scriptError](err); err == nil || placed { // by a script of .read
		return err
	}
	return inScript(err, sc.source, sc.line)
}

// text adds text and runs the statements that it completes.
func (sc *script) text(text string) error {
	sc.splitter.Write(text)
	sc.size += len(text)
	for p, ok := sc.splitter.Next(); ok; p, ok = sc.splitter.Next() {
		if err := sc.runPiece(p, sc.source); err != nil || sc.quit {
			return err
		}
		sc.size = 0
	}
	if sc.size > maxStatement {
		return inScript(fmt.Errorf("a statement of more than %d bytes", maxStatement), sc.source, sc.line)
	}
	// Pending reads all of the statement, so don't call it for each line of a long one.
	sc.pending = sc.size >= readBuffer || sc.splitter.Pending()
	return nil
}

// readChunk returns text up to the end of the line, or what has arrived of the line so far, so
// that a complete statement does not wait for the rest of its line. Where a dot-command is
// allowed, a line that may be one is read whole. The text is valid until the next read.
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

// runPiece runs one statement of a text, and adds the line to an error.
func (s *session) runPiece(p query.Piece, source string) error {
	err := s.runStatement(p.Text)
	if err == nil {
		return nil
	}
	line := p.Line
	if e, ok := errors.AsType[*query.ParseError](err); ok {
		line += e.Line - 1
	}
	return inScript(err, source, line)
}
