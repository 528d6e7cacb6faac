package repl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query"
)

const (
	maxStatement = 512 << 20 // bytes of a statement: PUT of the largest text, with every byte escaped
	maxDotLine   = 64 << 10  // bytes of a line with a dot-command
	readBuffer   = 64 << 10
)

// isDot reports whether a line between statements is a dot-command: it starts with a point that no
// digit follows.
func isDot(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && line[0] == '.' && (line[1] < '0' || line[1] > '9')
}

// runScript runs statements and dot-commands as it reads them. source names the text in errors.
func (s *session) runScript(in io.Reader, source string) error {
	sc := newScript(in)
	for !s.quit {
		p, dot, err := sc.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && s.ctx.Err() != nil:
			err = s.ctx.Err()
		case err != nil:
		case dot:
			err = s.dot(p.Text)
		default:
			err = s.runStatement(p.Text)
			if e, ok := errors.AsType[*query.ParseError](err); ok {
				p.Line += e.Line - 1
			}
		}
		if err != nil {
			return inScript(err, source, p.Line)
		}
	}
	return nil
}

// script is a text that is being read.
type script struct {
	in        *bufio.Reader
	splitter  front.Splitter
	line      int  // line number of the last text read
	size      int  // bytes of the incomplete statement
	lineStart bool // the next read starts a line
	ended     bool
}

func newScript(in io.Reader) *script {
	return &script{in: bufio.NewReaderSize(in, readBuffer), splitter: front.Language.Splitter(), lineStart: true}
}

// next returns the next statement, or the line of a dot-command; io.EOF after the last. It reads no
// further than it must. On an error, p.Line is the line of the error, or 0 if the text cannot be
// read.
func (sc *script) next() (p front.Piece, dot bool, err error) {
	for {
		p, ok := sc.splitter.Next()
		if !ok && sc.ended {
			p, ok = sc.splitter.Rest()
		}
		switch {
		case ok:
			sc.size = 0
			return p, false, nil
		case sc.ended:
			return p, false, io.EOF
		case sc.size > maxStatement:
			return front.Piece{Line: sc.line}, false, fmt.Errorf("a statement of more than %d bytes", maxStatement)
		}
		// Within a statement, a line is not a dot-command. Pending scans the whole statement, so do
		// not call it for each line of a long one.
		dot = sc.lineStart && sc.size < readBuffer && !sc.splitter.Pending()
		chunk, err := readChunk(sc.in, dot)
		if err != nil && !errors.Is(err, io.EOF) {
			return p, false, fmt.Errorf("reading statements: %w", err)
		}
		if sc.lineStart {
			sc.line++
		}
		text := string(chunk)
		sc.ended, sc.lineStart = err != nil, strings.HasSuffix(text, "\n")
		if dot && isDot(text) {
			sc.splitter.Write("\n") // so that the splitter counts the line
			p = front.Piece{Text: text, Line: sc.line}
			if len(text) >= maxDotLine {
				return p, true, fmt.Errorf("a dot-command of more than %d bytes", maxDotLine)
			}
			return p, true, nil
		}
		sc.splitter.Write(text)
		sc.size += len(text)
	}
}

// readChunk returns text up to the end of the line, or the part of the line that has arrived, so
// that a complete statement does not wait for the rest of its line. If a dot-command is allowed, a
// line that may be one is read to its end. The text is valid until the next read.
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
