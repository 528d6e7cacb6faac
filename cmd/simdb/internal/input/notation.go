package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/fptext"
)

// One fingerprint alone can't tell whether 1234567890123456 was meant as hexadecimal or decimal; by the rule of package fptext it
// is hexadecimal. The lines of one file are written alike, so a file that has fingerprints which the rule reads as hexadecimal
// and others which it reads as decimal is refused until Options.Fingerprints says what they are:
//
//   - The first block is read before any record is delivered. Where it has nothing but fingerprints of 16 decimal digits, more is
//     read, up to maxUndecided.
//   - From there on every fingerprint that is delivered is read as the file has shown to be written, and the first one that
//     the rule reads otherwise ends the reading.

const (
	maxUndecided  = 1 << 20 // bytes of a file that are read to tell how its fingerprints are written
	manyAmbiguous = 8       // hexadecimal numbers of 16 digits without any letter are no accident
)

// evidence is how the fingerprints of a file are written, as far as it has been read.
type evidence struct {
	hex, decimal sighting // the first ones that the rule reads so
	certain      bool     // a hexadecimal one has a letter
	ambiguous    int      // have 16 decimal digits
}

// sighting is a fingerprint in a file; line is 0 for none.
type sighting struct {
	line int64
	text string
}

// notationError is the refusal of a file.
type notationError struct{ text string }

// Error says which lines disagree.
func (e *notationError) Error() string { return e.text }

// setFingerprint sets the fingerprint of a record from its text. It returns what is wrong with it, or "".
func (r *Record) setFingerprint(text []byte, notation fptext.Notation) string {
	v, as, err := fptext.Parse(text, notation)
	if err != nil {
		return err.Error()
	}
	r.Doc.Fingerprint = &v
	if notation == fptext.Auto {
		r.notation, r.written = as, text
	}
	return ""
}

// add takes note of the record's fingerprint. It returns an error if it is written otherwise than those before.
func (e *evidence) add(r *Record) error {
	switch r.notation {
	case fptext.Hex:
		if e.hex.line > 0 && e.certain {
			return nil
		}
		e.certain = e.certain || hasLetter(r.written)
		if fptext.Ambiguous(r.written) {
			e.ambiguous++
		}
		e.hex.note(r)
	case fptext.Decimal:
		if e.decimal.line > 0 {
			return nil
		}
		e.decimal.note(r)
	default:
		return nil
	}
	if e.hex.line == 0 || e.decimal.line == 0 {
		return nil
	}
	a, b := e.hex, e.decimal
	what := [2]string{"hexadecimal", "decimal"}
	if a.line > b.line {
		a, b, what = b, a, [2]string{what[1], what[0]}
	}
	return &notationError{fmt.Sprintf("the fingerprint of line %d, %s, is %s by its form, that of line %d, %s, is %s; --fingerprints hex or decimal says what all of them are",
		a.line, a.text, what[0], b.line, b.text, what[1])}
}

// note keeps the first sighting.
func (s *sighting) note(r *Record) {
	if s.line == 0 {
		*s = sighting{r.Line, string(r.written)}
	}
}

// undecided says whether more of the file could show that its fingerprints are decimal.
func (e *evidence) undecided() bool { return e.ambiguous > 0 && !e.certain && e.decimal.line == 0 }

// settle reads the fingerprints of the first block, and of more where that does not show how they are written.
func (f *File) settle() error {
	if f.opt.Fingerprints != fptext.Auto || f.format == TXT {
		return nil
	}
	for {
		if err := f.survey(); err != nil {
			return err
		}
		switch {
		case !f.seen.undecided() || f.headEnds:
			return nil
		case len(f.head) >= maxUndecided && f.seen.ambiguous >= manyAmbiguous:
			return &notationError{fmt.Sprintf("the fingerprints from line %d (%s) on have 16 decimal digits: --fingerprints hex or decimal says what they are",
				f.seen.hex.line, f.seen.hex.text)}
		case len(f.head) >= maxUndecided:
			return nil
		}
		if err := f.readHead(min(2*max(len(f.head), sampleBytes), maxUndecided)); err != nil {
			return err
		}
	}
}

// survey collects the evidence that the complete lines of the first block are.
func (f *File) survey() error {
	block := f.head
	if !f.headEnds {
		block = block[:bytes.LastIndexByte(block, '\n')+1]
	}
	part := &File{name: f.name, opt: f.opt, format: f.format, parse: f.parse, hasHeader: f.hasHeader, head: block, r: bytes.NewReader(nil), done: func() {}}
	part.opt.Skip, part.opt.Workers = 0, 1
	for _, err := range part.Records(context.Background()) {
		if n, ok := errors.AsType[*notationError](err); ok {
			return n
		}
	}
	f.seen = part.seen
	return nil
}

// readHead reads on into the head of the file until it has size bytes, or on a pipe until more lines are complete: they are not
// to wait for what is written later.
func (f *File) readHead(size int) error {
	had := len(f.head)
	head := make([]byte, had, size)
	copy(head, f.head)
	var err error
	for len(head) < size && err == nil && (!f.live() || bytes.IndexByte(head[had:], '\n') < 0) {
		var n int
		n, err = f.r.Read(head[len(head):size])
		head = head[:len(head)+n]
	}
	f.head = head
	switch {
	case err == io.EOF:
		f.headEnds = true
	case err != nil && bytes.IndexByte(head, '\n') < 0:
		return &ReadError{File: f.name, Line: 0, Err: explain(f.packed, err)}
	case err != nil: // there are lines before the damage; it is met again on reading
		f.r, f.headEnds = failing{err}, true
	}
	return nil
}

// live says whether somebody may wait at the other end for an answer to each line.
func (f *File) live() bool { return f.size < 0 && f.packed == "" }
