package query

import (
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fptext"
)

// target is what a predicate compares documents with.
type target struct {
	fingerprint    uint64
	hasFingerprint bool   // false: a text without words, which matches nothing
	self           string // the id, where it was given by id: a document is not its own match
	doc            engine.Doc
	label          string // as the user would write it
}

const expectFingerprint = "a fingerprint such as 0xff, a document id in quotes, or TEXT '...'"

// fingerprintTarget resolves an argument of NEAR or NEAREST: a fingerprint, a document's id, or a text.
func (x *run) fingerprintTarget(a *argument) (target, error) {
	v, err := x.values.get(a.Value)
	if err != nil {
		return target{}, err
	}
	if s, ok := v.(string); ok && a.Text {
		v = Text(s)
	}
	switch v := v.(type) {
	case uint64:
		if !a.Text {
			return target{fingerprint: v, hasFingerprint: true, label: fmt.Sprintf("0x%016x", v)}, nil
		}
	case number:
		if fp, err := x.fingerprintNumber(a, v); err != nil || !a.Text {
			return target{fingerprint: fp, hasFingerprint: true, label: fmt.Sprintf("0x%016x", fp)}, err
		}
	case Text:
		fp, ok := x.db.Fingerprint(string(v))
		return target{fingerprint: fp, hasFingerprint: ok, label: "TEXT " + label(string(v))}, nil
	case string:
		e, err := x.snap.Lookup(x.ctx, v)
		if err != nil {
			return target{}, x.lookupError(a.Value.Pos.Offset, v, err)
		}
		return target{fingerprint: e.Fingerprint, hasFingerprint: e.HasFingerprint, self: v, label: label(v)}, nil
	}
	if a.Text {
		return target{}, x.values.wrong(a.Value, "a text in quotes")
	}
	return target{}, x.values.wrong(a.Value, expectFingerprint)
}

// fingerprintNumber returns the fingerprint that a number is: one that is written in the statement follows the rule of package
// fptext, the value of a parameter is a number already.
func (x *run) fingerprintNumber(a *argument, v number) (uint64, error) {
	notation := fptext.Auto
	if a.Value.Type != tokNumber {
		notation = fptext.Decimal
	}
	fp, _, err := fptext.Parse(v, notation)
	if err != nil && isDigits(string(v)) {
		return 0, x.values.errorf(a.Value.Pos.Offset, "", "%v", err)
	} else if err != nil {
		return 0, x.values.wrong(a.Value, expectFingerprint)
	}
	return fp, nil
}

// textTarget resolves an argument of a measure that compares texts: a document's id, or a text.
func (x *run) textTarget(name string, a *argument) (target, error) {
	v, err := x.values.get(a.Value)
	if err != nil {
		return target{}, err
	}
	if s, ok := v.(string); ok && a.Text {
		v = Text(s)
	}
	switch v := v.(type) {
	case Text:
		return target{doc: engine.Doc{Text: string(v)}, label: "TEXT " + label(string(v))}, nil
	case string:
		d, err := x.snap.Get(x.ctx, v)
		if err != nil {
			return target{}, x.lookupError(a.Value.Pos.Offset, v, err)
		}
		return target{doc: d, self: v, label: label(v)}, nil
	case engine.Doc:
		return target{doc: v, self: v.ID, label: label(v.ID)}, nil
	}
	e := errorAt(x.values.p.text, a.Value.Pos.Offset, "give a document id in quotes, or TEXT '...'", "%s compares texts", name)
	return target{}, e
}

// lookupError is the error of looking up an id that stands at an offset of the statement.
func (x *run) lookupError(offset int, id string, err error) error {
	if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	e := errorAt(x.values.p.text, offset, "", "there is no document %s", label(id))
	e.Class, e.Err = ClassNotFound, err
	if _, notation, err := fptext.Parse(id, fptext.Auto); err == nil && notation == fptext.Hex {
		e.Hint = "for a fingerprint write " + id + " without quotes"
	}
	return e
}

// label quotes an id or text as the language does, on one line and cut to a length that fits a message.
func label(s string) string {
	const longest = 60
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "'" + strings.ReplaceAll(shown(strings.ReplaceAll(s, "\t", " ")), "'", "''") + "'"
}
