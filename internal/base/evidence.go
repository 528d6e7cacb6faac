package base

import (
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/option"
)

// Evidence collects the notations in which ParseCell has read the fingerprints of a file with Auto.
// All lines of a file have the same notation. Therefore, if the rule reads some of its fingerprints
// as hexadecimal and others as decimal, the file is refused until the user sets the notation. A
// file with fingerprints of several lengths is refused, too. The zero Evidence is ready to use.
type Evidence struct {
	hex, decimal sighting // the first hexadecimal and the first decimal fingerprint, by the rule
	certain      bool     // some hexadecimal fingerprint is unambiguous
	ambiguous    int      // number of fingerprints with 16 decimal digits
	short        int      // number with letters and fewer than 16 digits
	letters      int      // number that are hexadecimal because of a letter
	plain        int      // number that are decimal, but could be hexadecimal
	far          int      // number that can only be decimal
	binary       bool     // some fingerprints are binary
	brief        sighting // the first short fingerprint
	lengths      []length // different lengths
}

// length is the first fingerprint in a file with these lengths in bits, as returned by Widths.
type length struct {
	sighting
	bits [2]int
}

// sighting is a fingerprint in a file; place is 0 if there is none.
type sighting struct {
	place int64
	text  string
}

// manyAmbiguous is the number of fingerprints with 16 decimal digits, without an unambiguous one,
// that is no longer a coincidence.
const manyAmbiguous = 8

// Add adds a fingerprint, its place, counted from 1, and the notation in which ParseCell has read
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

// note stores the first sighting.
func (s *sighting) note(place int64, text []byte) {
	if s.place == 0 {
		*s = sighting{place, string(text)}
	}
}

// Has reports whether this notation was already seen, so that another fingerprint in it does not
// change Conflict.
func (e *Evidence) Has(n Notation) bool {
	return n == Hex && e.certain || n == Decimal && e.decimal.place > 0
}

// Short reports whether the fingerprints are hexadecimal without leading zeros: some have letters
// and fewer than 16 digits, most have letters, and all that are decimal by the rule could be
// hexadecimal.
func (e *Evidence) Short() bool {
	return e.short > 0 && e.letters > e.plain && e.far == 0
}

// Shows returns the notation that the fingerprints have shown: Hex, Decimal or Binary, else Auto.
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

// Undecided reports whether unread data could still show that the fingerprints are decimal.
func (e *Evidence) Undecided() bool { return e.ambiguous > 0 && !e.certain && e.decimal.place == 0 }

// Guessed returns an error if many fingerprints could be decimal or hexadecimal, and none shows the
// notation. unit is the unit of places: "line".
func (e *Evidence) Guessed(unit string) error {
	if !e.Undecided() || e.ambiguous < manyAmbiguous {
		return nil
	}
	return fmt.Errorf("the fingerprints from %s %d (%s) on have 16 decimal digits: %s says how to read them",
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
	return fmt.Errorf("the fingerprint of %s %d, %s, looks %s, but that of %s %d, %s, looks %s; %s says how to read them",
		unit, a.place, a.text, what[0], unit, b.place, b.text, what[1], option.Set("Fingerprints", Hex, Decimal))
}

// AddWidths adds the lengths of a fingerprint, as returned by Widths.
func (e *Evidence) AddWidths(place int64, text []byte, bits [2]int) {
	if bits[0] > 0 && !slices.ContainsFunc(e.lengths, func(l length) bool { return l.bits == bits }) {
		e.lengths = append(e.lengths, length{sighting{place, short(string(text))}, bits})
	}
}

// Width returns the length of all fingerprints in bits, or 0 if none has shown it. It returns an
// error if they cannot all have the same length or, unless asked is 0, that length.
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
				return 0, fmt.Errorf("the fingerprint of %s %d, %s, has %d bits, but that of %s %d, %s, has %d",
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
	return 0, fmt.Errorf("the fingerprint of %s %d, %s, has %d bits, but the fingerprints to compare it with have %d",
		unit, all[i].place, all[i].text, all[i].bits[0], asked)
}

// has reports whether the fingerprint can have this number of bits.
func (l *length) has(bits int) bool { return bits > 0 && slices.Contains(l.bits[:], bits) }
