package lines

import (
	"bytes"
	"context"
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/fptext"
)

// A single fingerprint does not show whether 1234567890123456 is hexadecimal or decimal; the rule
// of package fptext takes it for hexadecimal, and fptext.Evidence knows when a file contradicts it:
//
//   - The first block is read before any record is delivered. If all its fingerprints have 16
//     decimal digits, more is read, up to maxUndecided. If some are hexadecimal without leading
//     zeros, all of the file is read as hexadecimal.
//   - From then on every fingerprint that is delivered is in the notation that the file has shown,
//     and the first one that the rule reads otherwise ends the reading.

const maxUndecided = 1 << 20 // bytes that are read to decide on the notation

// notationError is the refusal of a file.
type notationError struct{ error }

// settle reads the fingerprints of the first block, and of more where that does not show how they
// are written.
func (f *file) settle() error {
	if f.opt.Fingerprints != fptext.Auto || f.info.Format == TXT {
		return nil
	}
	for {
		if err := f.survey(); err != nil {
			return err
		}
		head, all := f.in.Head()
		switch {
		case f.seen.Short():
			f.opt.Fingerprints = fptext.Hex
			switch p := f.parse.(type) {
			case *list:
				p.notation = fptext.Hex
			case *object:
				p.notation = fptext.Hex
			}
			return nil
		case !f.seen.Undecided() || all:
			return nil
		case len(head) >= maxUndecided:
			if err := f.seen.Guessed("line"); err != nil {
				return notationError{err}
			}
			return nil
		}
		if err := f.in.ReadHead(min(2*max(len(head), input.HeadBytes), maxUndecided)); err != nil {
			return err
		}
	}
}

// survey collects the evidence of the complete lines of the head.
func (f *file) survey() error {
	block, all := f.in.Head()
	if !all && f.info.Format != JSON {
		block = block[:bytes.LastIndexByte(block, '\n')+1]
	}
	part := &file{content: bytes.NewReader(block), opt: f.opt, info: f.info, parse: f.parse, hasHeader: f.hasHeader, surveys: true}
	part.opt.After, part.opt.Workers = 0, 1
	for _, err := range part.Records(context.Background()) {
		if n, ok := errors.AsType[notationError](err); ok {
			return n
		}
	}
	f.seen = part.seen
	if f.seen.Short() {
		return nil
	}
	if err := f.seen.Conflict("line"); err != nil {
		return notationError{err}
	}
	return nil
}

// heed adds the fingerprint of a record to the evidence. It returns what is wrong with the record,
// or "", or an error if its notation differs from that of the others.
func (f *file) heed(r *record) (reason string, err error) {
	if r.notation == fptext.Auto {
		return "", nil
	}
	short := r.notation == fptext.Hex && fptext.IsShort(r.written)
	if short && !f.surveys && f.seen.Shows() == fptext.Decimal {
		_, _, err := fptext.Parse(r.written, fptext.Auto)
		return err.Error(), nil
	}
	f.seen.Add(int64(r.Pos), r.written, r.notation)
	if f.surveys {
		return "", nil
	}
	if err := f.seen.Conflict("line"); err != nil {
		return "", notationError{err}
	}
	return "", nil
}

// base says how the numbers of a list are written: "hexadecimal", "decimal", "base64", or "" where
// no number has shown it.
func (f *file) base(notation fptext.Notation) string {
	if notation == fptext.Auto {
		notation = f.seen.Shows()
	}
	return map[fptext.Notation]string{fptext.Hex: "hexadecimal", fptext.Decimal: "decimal", fptext.Base64: "base64"}[notation]
}
