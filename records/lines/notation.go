package lines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// A single fingerprint does not show whether 1234567890123456 is hexadecimal or decimal. The rule
// of package base reads it as hexadecimal, and base.Evidence detects when a file contradicts that:
//
//   - The first block, or the first record if that is longer, is read before any record is
//     delivered. If all its fingerprints have 16 decimal digits, more is read, up to maxUndecided.
//     If some are hexadecimal without leading zeros, all of the file is read as hexadecimal.
//   - From then on every fingerprint that is delivered is in the notation that the file has shown,
//     and the first one that the rule reads differently ends the reading.

const (
	maxUndecided  = 1 << 20 // bytes read to decide on the notation
	manyFlawed    = 64      // this many records with a flaw, and none without, are not an accident
	maxTexts      = 200     // texts checked for digests
	longestDigest = 300     // bytes of each text to check; more than any digest has
)

// notationError refuses a file because of the notation or length of its fingerprints.
type notationError struct{ error }

// settle decides on the notation and the length of fingerprints.
func (f *file) settle() error {
	if f.info.Format == TXT || kindOf[f.info.Format] != nil {
		return nil
	}
	if err := f.look(); err != nil {
		return err
	}
	var err error
	if f.info.Bits, err = f.seen.Width(f.opt.Bits, "line"); err != nil {
		return notationError{err}
	}
	f.info.Several = f.several
	f.opt.Bits = cmp.Or(f.info.Bits, f.opt.Bits, base.FingerprintBits)
	switch p := f.parse.(type) { // other parsers get their notation from the options later
	case *list:
		p.prints = prints{cmp.Or(f.opt.Fingerprints, p.notation), f.opt.Bits}
	case *object:
		p.prints = prints{f.opt.Fingerprints, f.opt.Bits}
	}
	return nil
}

// look reads the first block, and more if that does not show the notation of fingerprints or has no
// usable record.
func (f *file) look() error {
	waits := f.live && f.opt.Answers
	for {
		if err := f.survey(); err != nil {
			return err
		}
		head, all := f.in.Head()
		if err := f.refuse(f.info.Format.Unit(), len(head), all); err != nil && !waits {
			return err
		}
		switch {
		case f.opt.Fingerprints != base.Auto && f.prints == 0 && f.records > 0:
			return fmt.Errorf("%s: no record at its beginning has a fingerprint; %s names the field",
				option.Set("Fingerprints", f.opt.Fingerprints), option.Name("FingerprintField"))
		case f.seen.Short() && f.opt.Fingerprints == base.Auto:
			f.opt.Fingerprints = base.Hex
			return nil
		case !f.whole && !waits && !all && len(head) < records.MaxRecord: // the first record is longer than the head
			if err := f.in.ReadHead(2 * max(len(head), records.HeadBytes)); err != nil {
				return err
			}
			continue
		case f.flaw != "" && !f.sound && !waits && !all && len(head) < maxUndecided: // read on to find a record without a flaw
		case !f.seen.Undecided() || all:
			return nil
		case len(head) >= maxUndecided:
			if err := f.seen.Guessed("line"); err != nil {
				return notationError{err}
			}
			return nil
		}
		if err := f.in.ReadHead(min(2*max(len(head), records.HeadBytes), maxUndecided)); err != nil {
			return err
		}
	}
}

// survey collects the evidence of the complete lines of the head.
func (f *file) survey() error {
	block, all, err := f.head()
	if err != nil {
		return err
	}
	if !all && f.info.Format != JSON {
		block = block[:bytes.LastIndexByte(block, '\n')+1]
	}
	part := &file{content: bytes.NewReader(block), opt: f.opt, info: f.info, parse: f.parse, hasHeader: f.hasHeader, unnamed: f.unnamed, members: f.members, group: f.group, surveys: true}
	part.opt.After, part.opt.Workers, part.opt.Bits = 0, 1, 0
	for rec, err := range part.Records(context.Background()) {
		if n, ok := errors.AsType[notationError](err); ok {
			return n
		}
		part.whole = part.whole || err == nil || all || f.info.Format != JSON // a record of JSON may be cut off here
		if err == nil {
			part.records++
			part.sound = part.sound || rec.Flaw == ""
			part.flaw = cmp.Or(part.flaw, rec.Flaw)
			if rec.Doc.Fingerprints != nil {
				part.prints++
			}
			part.several = part.several || len(rec.Doc.Fingerprints) > 1
			if text := rec.Doc.Text; text != "" && len(part.texts) < maxTexts {
				part.texts = append(part.texts, []byte(text[:min(len(text), longestDigest)]))
			}
		}
	}
	f.seen, f.usable = part.seen, part.usable
	if f.seen.Short() {
		return nil
	}
	if err := f.seen.Conflict("line"); err != nil {
		return notationError{err}
	}
	return nil
}

// base returns a word for the notation of a list: "hexadecimal", "decimal", "base64" and so on, or
// "" if no number has shown it.
func (f *file) base(notation base.Notation) string {
	if notation == base.Auto {
		notation = f.seen.Shows()
	}
	return map[base.Notation]string{base.Hex: "hexadecimal", base.Decimal: "decimal", base.Binary: "binary", base.Base64: "base64"}[notation]
}

// refuse returns an error if no record can be used: in that case the flags are probably wrong.
func (u *usable) refuse(unit string, read int, all bool) error {
	switch {
	case u.sound || u.flaw == "":
		return nil
	case all:
		return fmt.Errorf("in every %s: %s", unit, u.flaw)
	case read >= maxUndecided && u.records >= manyFlawed:
		return fmt.Errorf("in each of the first %s: %s", quantity.Count(int64(u.records), unit), u.flaw)
	}
	return nil
}
