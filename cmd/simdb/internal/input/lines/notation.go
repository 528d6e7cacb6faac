package lines

import (
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/fptext"
)

// A single fingerprint does not show whether 1234567890123456 is hexadecimal or decimal; the rule
// of package fptext takes it for hexadecimal. All lines of a file are written alike, so a file with
// fingerprints that the rule reads as hexadecimal and others that it reads as decimal is refused
// until Options.Fingerprints says what they are:
//
//   - The first block is read before any record is delivered. If all its fingerprints have 16
//     decimal digits, more is read, up to maxUndecided.
//   - From then on every fingerprint that is delivered is in the notation that the file has shown,
//     and the first one that the rule reads otherwise ends the reading.

const (
	maxUndecided  = 1 << 20 // bytes that are read to decide on the notation
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
	line input.Position
	text string
}

// notationError is the refusal of a file.
type notationError struct{ text string }

// Error says which lines disagree.
func (e *notationError) Error() string { return e.text }

// add adds the fingerprint of a record to the evidence. It returns an error if its notation differs
// from that of the others.
func (e *evidence) add(r *record) error {
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
func (s *sighting) note(r *record) {
	if s.line == 0 {
		*s = sighting{r.Pos, string(r.written)}
	}
}

// undecided reports whether the rest of the file could still show that its fingerprints are
// decimal.
func (e *evidence) undecided() bool { return e.ambiguous > 0 && !e.certain && e.decimal.line == 0 }

// base says how the numbers of a list are written: "hexadecimal", "decimal", "base64", or "" where
// no number has shown it.
func (e *evidence) base(notation fptext.Notation) string {
	switch {
	case notation == fptext.Base64:
		return "base64"
	case notation == fptext.Decimal, notation == fptext.Auto && e.decimal.line > 0:
		return "decimal"
	case notation == fptext.Hex, e.hex.line > 0:
		return "hexadecimal"
	}
	return ""
}
