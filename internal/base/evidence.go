package base

import (
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/option"
)

// Evidence is how the fingerprints of a file are written, as far as ParseCell has read it with
// Auto. All lines of a file are written alike, so a file with fingerprints that the rule reads as
// hexadecimal and others that it reads as decimal is refused until the user says what they are.
// So is one with fingerprints of several lengths. The zero Evidence is ready to use.
type Evidence struct {
	hex, decimal sighting // the first ones by the rule
	certain      bool     // a hexadecimal one is not ambiguous
	ambiguous    int      // have 16 decimal digits
	short        int      // have letters, and fewer than 16 digits
	letters      int      // are hexadecimal by a letter
	plain        int      // are decimal, and could be hexadecimal
	far          int      // are decimal, and could not be
	binary       bool     // some are
	brief        sighting // the first of those that are short
	lengths      []length // different ones
}

// length is the first fingerprint in a file that has one of two lengths in bits, as Widths has
// them.
type length struct {
	sighting
	bits [2]int
}

// sighting is a fingerprint in a file; place is 0 for none.
type sighting struct {
	place int64
	text  string
}

// manyAmbiguous is how many fingerprints of 16 decimal digits, and none that shows what they are,
// are no accident.
const manyAmbiguous = 8

// Add notes a fingerprint, the place where it is, counted from 1, and as what ParseCell has read
// it.
func (e *Evidence) Add(place int64, text []byte, as Notation) {
	switch {
	case as == Decimal:
		if len(text) < width && text[0] != '-' {
			e.plain++
		} else {
			e.far++
		}
		e.decimal.note(place, text)
	case as != Hex:
		e.binary = e.binary || as == Binary
	case Ambiguous(text):
		e.ambiguous++
		e.hex.note(place, text)
	case IsShort(text):
		e.short++
		e.letters++
		e.brief.note(place, text)
	default:
		e.certain = true
		if !allDigits(text) {
			e.letters++
		}
		e.hex.note(place, text)
	}
}

// note keeps the first sighting.
func (s *sighting) note(place int64, text []byte) {
	if s.place == 0 {
		*s = sighting{place, string(text)}
	}
}

// Has reports whether a fingerprint has shown this notation: another one changes no Conflict.
func (e *Evidence) Has(n Notation) bool {
	return n == Hex && e.certain || n == Decimal && e.decimal.place > 0
}

// Short reports whether the fingerprints are hexadecimal without leading zeros: some have letters
// and fewer than 16 digits, most have letters, and all that are decimal by the rule could be
// hexadecimal.
func (e *Evidence) Short() bool {
	return e.short > 0 && e.letters > e.plain && e.far == 0
}

// Shows returns Hex, Decimal or Binary if a fingerprint has shown that, else Auto.
func (e *Evidence) Shows() Notation {
	switch {
	case e.decimal.place > 0:
		return Decimal
	case e.hex.place > 0 || e.short > 0:
		return Hex
	case e.binary:
		return Binary
	}
	return Auto
}

// Undecided reports whether what has not been read could still show that the fingerprints are
// decimal.
func (e *Evidence) Undecided() bool { return e.ambiguous > 0 && !e.certain && e.decimal.place == 0 }

// Guessed returns an error if many fingerprints could be decimal or hexadecimal, and none shows
// what they are. The unit is that of places: "line".
func (e *Evidence) Guessed(unit string) error {
	if !e.Undecided() || e.ambiguous < manyAmbiguous {
		return nil
	}
	return fmt.Errorf("the fingerprints from %s %d (%s) on have 16 decimal digits: %s says what they are",
		unit, e.hex.place, e.hex.text, option.Set("Fingerprints", Hex, Decimal))
}

// Conflict returns an error if the rule reads some fingerprints as hexadecimal and others as
// decimal.
func (e *Evidence) Conflict(unit string) error {
	a, b, what := e.hex, e.decimal, [2]string{"hexadecimal", "decimal"}
	switch {
	case a.place == 0 || b.place == 0:
		return nil
	case a.place > b.place:
		a, b, what = b, a, [2]string{what[1], what[0]}
	}
	return fmt.Errorf("the fingerprint of %s %d, %s, is %s by its form, that of %s %d, %s, is %s; %s says what all of them are",
		unit, a.place, a.text, what[0], unit, b.place, b.text, what[1], option.Set("Fingerprints", Hex, Decimal))
}

// AddWidths notes how long a fingerprint is, as Widths has it.
func (e *Evidence) AddWidths(place int64, text []byte, bits [2]int) {
	if bits[0] > 0 && !slices.ContainsFunc(e.lengths, func(l length) bool { return l.bits == bits }) {
		e.lengths = append(e.lengths, length{sighting{place, short(string(text))}, bits})
	}
}

// Width returns how many bits all fingerprints have, 0 if none has shown it. It returns an error if
// not all can have as many, or, unless asked is 0, not as many as are wanted.
func (e *Evidence) Width(asked int, unit string) (bits int, err error) {
	all := e.lengths
	if len(all) == 0 && e.brief.place > 0 {
		all = []length{{e.brief, [2]int{FingerprintBits}}}
	}
	if len(all) == 0 {
		return 0, nil
	}
	for i, b := range all {
		for _, a := range all[:i] {
			if !a.has(b.bits[0]) && !a.has(b.bits[1]) {
				return 0, fmt.Errorf("the fingerprint of %s %d, %s, has %d bits, that of %s %d, %s, has %d",
					unit, a.place, a.text, a.bits[0], unit, b.place, b.text, b.bits[0])
			}
		}
	}
	for _, bits := range all[0].bits {
		if (asked == 0 || bits == asked) && bits > 0 && !slices.ContainsFunc(all, func(l length) bool { return !l.has(bits) }) {
			return bits, nil
		}
	}
	i := max(0, slices.IndexFunc(all, func(l length) bool { return !l.has(asked) }))
	return 0, fmt.Errorf("the fingerprint of %s %d, %s, has %d bits, those that it is to be compared with have %d",
		unit, all[i].place, all[i].text, all[i].bits[0], asked)
}

// has reports whether the fingerprint can have that many bits.
func (l *length) has(bits int) bool { return bits > 0 && slices.Contains(l.bits[:], bits) }
