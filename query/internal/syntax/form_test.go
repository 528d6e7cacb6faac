package syntax

import (
	"errors"
	"fmt"
	"testing"
)

// Statements that differ only in their literals share a form, but each has its own literals and
// places.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"NEAR('a', 3)", "near ( 'a longer one',\n-- k\n12 ) ", true},
		{"NEAR('a', 3)", "NEAR('a', 3);", false},
		{"NEAR('a', 3)", "NEAR(0xff, 3)", false},
		{"NEAR('a', 3)", "NEAR('a', 80%)", false},
		{"NEAR('a', 3)", "NEAREST('a', 3)", false},
		{"NEAR('a', 3)", "NEAR('a', ?)", false},
		{"NEAR('a', $x)", "NEAR('a', $y)", false},
		{"n = 'a'", "m = 'a'", false},
		{"n = 1", "n < 1", false},
		{"a.'b' = 1", "a.b = 1", false},
		{"GET 'a'", "GET '''GET'", true},
		{"ID IN ('a')", "ID IN ('a', 'b')", false},
		{`PUT {"id": 1}`, `PUT {"id": 2, "text": "a"}`, true},
	} {
		a, err := vocabulary.Parse(c.a)
		b, other := vocabulary.Parse(c.b)
		if err != nil || other != nil {
			t.Fatal(c.a, err, c.b, other)
		}
		if (a.Statement == b.Statement) != c.same {
			t.Errorf("%s and %s share a form: %v", c.a, c.b, !c.same)
		}
	}
	p, err := vocabulary.Parse("  NEAR('b',  7)")
	if err != nil {
		t.Fatal(err)
	}
	args := p.Statement.Select.Expr.Terms[0].Terms[0].Term.Call.Args
	if id, k := p.Written(args[0].Value), p.Written(args[1].Value); id.Value != "'b'" || k.Value != "7" || p.Offset(k.Pos.Offset) != 13 {
		t.Error(id, k)
	}
	inner := Errorf(args[0].Value.Pos.Offset, "", "wrong")
	inner.Within = 2
	var e *Error
	if err := p.Locate(fmt.Errorf("wrapped: %w", inner)); !errors.As(err, &e) || e.Offset != 9 || inner.Offset == 9 {
		t.Errorf("%#v", e)
	}
	if plain := errors.New("x"); p.Locate(plain) != plain || p.Locate(nil) != nil {
		t.Error("an error without a place has changed")
	}
}

// The cache holds a limited number of forms, and no form of a long statement.
func TestFormsKept(t *testing.T) {
	long := "ID IN ('a'"
	for i := range 3 * maxForms {
		if _, err := vocabulary.Parse(fmt.Sprintf("n%d = 1", i)); err != nil {
			t.Fatal(err)
		}
		long += ", 'a'"
	}
	for range maxForm {
		long += ", 'a'"
	}
	n := len(vocabulary.forms.byKey)
	if _, err := vocabulary.Parse(long + ")"); err != nil || n > maxForms || len(vocabulary.forms.byKey) != n {
		t.Errorf("%d and %d forms are kept: %v", n, len(vocabulary.forms.byKey), err)
	}
}
