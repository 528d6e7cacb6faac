package predicate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// target is the operand that a predicate compares documents with.
type target struct {
	self string  // the id, if the argument is an id: a document does not match itself
	text *string // the text, if the argument is a text
	one  [1]uint64
	doc  engine.Doc // without a fingerprint, it is a text without words, which matches nothing
}

func (t *target) label() string {
	switch {
	case t.text != nil:
		return "TEXT " + value.Label(*t.text)
	case t.self != "":
		return value.Label(t.self)
	}
	return "0x" + string(base.AppendHexWords(nil, t.doc.Fingerprints[0]))
}

const expectFingerprint = "a fingerprint such as 0xff, a document id in quotes, or TEXT '...'"

// targetValue returns the value of an argument. A string after TEXT is a Text.
func (x *Scope) targetValue(a *syntax.Argument) (any, error) {
	v, err := x.Values.Get(a.Value)
	if s, ok := v.(string); ok && a.Text {
		return value.Text(s), err
	}
	return v, err
}

// fingerprint resolves an argument of NEAR or NEAREST: a fingerprint, a document's id, or a text.
func (t *target) fingerprint(x *Scope, a *syntax.Argument) error {
	v, err := x.targetValue(a)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case uint64:
		if !a.Text {
			t.one[0] = v
			return t.setWords(x, a, t.one[:])
		}
	case []uint64:
		if !a.Text {
			return t.setWords(x, a, v)
		}
	case value.Number:
		if t.one[0], err = x.fingerprintNumber(a, v); err != nil {
			return err
		} else if !a.Text {
			if _, err := x.Snap.Lookup(x.Ctx, string(v)); err == nil && a.Value.Type == syntax.Number {
				x.ifEmpty = append(x.ifEmpty, fmt.Sprintf("%s without quotes is a fingerprint: the document's id is '%s'", v, v))
			}
			return t.setWords(x, a, t.one[:])
		}
	case value.Text:
		t.text = (*string)(&v)
		if fp, _ := x.DB.Hash(string(v)); fp != nil {
			t.doc.Fingerprints = []engine.Fingerprint{fp}
		}
		return nil
	case string:
		e, err := x.Snap.Lookup(x.Ctx, v)
		if err != nil {
			return x.LookupError(a.Value.Pos.Offset, v, err)
		}
		t.self = v
		t.doc.Fingerprints = e.Fingerprints
		return nil
	}
	if a.Text {
		return x.Values.Wrong(a.Value, "a text in quotes")
	}
	return x.Values.Wrong(a.Value, expectFingerprint)
}

func (t *target) setWords(x *Scope, a *syntax.Argument, words []uint64) error {
	if have := 64 * len(words); have != x.bits() {
		return x.Values.Errorf(a.Value.Pos.Offset, fmt.Sprintf("write 0x and %d digits", x.bits()/4), "the fingerprint has %d bits, but those of the database have %d", have, x.bits())
	}
	t.doc.Fingerprints = []engine.Fingerprint{words}
	return nil
}

// bits returns how many bits fingerprints have.
func (x *Scope) bits() int { return x.DB.Options().Bits }

// fingerprintNumber returns the fingerprint that a number denotes. A literal follows the rules of
// package base; the value of a parameter is decimal.
func (x *Scope) fingerprintNumber(a *syntax.Argument, v value.Number) (base.Fingerprint, error) {
	notation := base.Auto
	if a.Value.Type != syntax.Number {
		notation = base.Decimal
	}
	fp, _, err := base.ParseFingerprint(v, notation)
	if notation == base.Auto && base.Ambiguous(v) {
		x.Doubt("%s has 16 digits and is hexadecimal; as a decimal number it is 0%s", v, v)
	}
	if err != nil && strings.Trim(string(v), "-0123456789") == "" {
		return fp, x.Values.Errorf(a.Value.Pos.Offset, "", "%v", err)
	} else if err != nil {
		return fp, x.Values.Wrong(a.Value, expectFingerprint)
	}
	return fp, nil
}

// textTarget resolves an argument of a measure that compares texts: a document's id, or a text.
func (x *Scope) textTarget(name string, a *syntax.Argument) (target, error) {
	v, err := x.targetValue(a)
	if err != nil {
		return target{}, err
	}
	switch v := v.(type) {
	case value.Text:
		x.noTexts("", "NEAR")
		return target{doc: engine.Doc{Text: string(v)}, text: (*string)(&v)}, nil
	case string:
		d, err := x.Snap.Get(x.Ctx, v)
		if err != nil {
			return target{}, x.LookupError(a.Value.Pos.Offset, v, err)
		}
		x.noTexts(v, "NEAR("+value.Label(v)+", 3)")
		return target{doc: d, self: v}, nil
	case engine.Doc:
		return target{doc: v, self: v.ID}, nil
	}
	e := syntax.Errorf(a.Value.Pos.Offset, "give a document id in quotes, or TEXT '...'", "%s compares texts", name)
	return target{}, e
}

// TextOf returns the document that an argument of a statement names, with its text.
func (x *Scope) TextOf(word syntax.Token, a *syntax.Argument) (engine.Doc, error) {
	if err := x.NeedTexts(word); err != nil {
		return engine.Doc{}, err
	}
	t, err := x.textTarget(word.Value, a)
	return t.doc, err
}

// LookupError returns the error for a failed lookup of an id at an offset of the statement.
func (x *Scope) LookupError(offset int, id string, err error) error {
	if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	e := syntax.Errorf(offset, "SHOW id LIMIT 5 shows some ids, JACCARD(TEXT '...', 0.5) finds texts", "there is no document %s", value.Label(id))
	e.Class, e.Err = syntax.NotFound, err
	for _, other := range []string{strings.ToUpper(id), strings.ToLower(id), title(id)} {
		if _, err := x.DB.Lookup(x.Ctx, other); err == nil && other != id {
			e.Hint = "case counts in ids, did you mean " + value.Label(other) + "?"
		}
	}
	if strings.Contains(id, " ") && e.Hint == "" {
		e.Hint = "TEXT and a text in quotes searches for similar texts"
	}
	if _, notation, err := base.ParseFingerprint(id, base.Auto); err == nil && notation == base.Hex {
		e.Hint = "for a fingerprint write " + id + " without quotes"
	}
	return e
}

// title returns a word with its first letter in upper case, and the others in lower case.
func title(word string) string {
	_, n := utf8.DecodeRuneInString(word)
	return strings.ToUpper(word[:n]) + strings.ToLower(word[n:])
}
