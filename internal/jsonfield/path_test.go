package jsonfield

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/quantity"
)

// TestPaths checks that lists of fields are parsed and written in canonical notation, and that
// invalid lists are errors.
func TestPaths(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "lang": "lang", " lang , url ": "lang,url", "meta.lang,fields.lang": "meta.lang,lang",
		"fields.text,meta.text": "fields.text,meta.text", "fields.'a,b''.c',é.x": "fields.'a,b''.c',é.x",
		"m.'lang'": "m.lang", "fields.'fields'.x": "fields.fields.x", "a.'',b": "a.'',b",
	} {
		got, err := Canonical(list)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Errorf("%q: then %q, %v", got, again, err)
		}
	}
	paths, err := Paths("fields.'a,b''.c'.d,fields.text")
	if err != nil || len(paths) != 2 || !slices.Equal(paths[0], []string{"a,b'.c", "d"}) || !slices.Equal(paths[1], []string{"text"}) {
		t.Error(paths, err)
	}
	for _, list := range []string{
		",", "a,", ",a", "a b", "text", "Fields", "'a'", "a.", "a.'b", "a..b", "a,fields.a", "a;b", "x" + strings.Repeat(",x", 20),
		strings.Repeat("x", mostList+1),
	} {
		if got, err := Canonical(list); err == nil {
			t.Errorf("%q: %q", list, got)
		}
	}
}

// TestKeys checks that keys have the order of numbers of any size. Truncated keys may be equal, but
// never in the wrong order.
func TestKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 5))
	digits := func(most int) string {
		b := make([]byte, 1+r.IntN(most))
		for i := range b {
			b[i] = "0001234567899"[r.IntN(13)]
		}
		return string(b)
	}
	number := func() string {
		s := []string{"", "", "-"}[r.IntN(3)] + digits([]int{2, 4, 20, 300}[r.IntN(4)])
		if r.IntN(2) == 0 {
			s += "." + digits(3)
		}
		if r.IntN(3) == 0 {
			s += []string{"e", "E-", "e+"}[r.IntN(3)] + digits([]int{1, 4, 30}[r.IntN(3)])
		}
		return s
	}
	equal := 0
	for range 100_000 {
		a, b := number(), number()
		if r.IntN(3) == 0 {
			b = a + []string{".0", "e0", "0", "1"}[r.IntN(4)]
		}
		if !IsNumber([]byte(a)) || !IsNumber([]byte(b)) {
			continue
		}
		want := quantity.ParseDecimal(a).Compare(quantity.ParseDecimal(b))
		x, y := AppendNumberKey([]byte("x"), []byte(a))[1:], AppendNumberKey(nil, []byte(b))
		if got := bytes.Compare(x, y); got != want && (got != 0 || len(x) < MostKey) {
			t.Fatalf("%s and %s: %d, want %d", a, b, got, want)
		}
		if want == 0 {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("only %d were equal", equal)
	}
	for value, want := range map[string]bool{"": false, "1": true, "-.5": true, ".": false, "1e": false, "+1": false, "0x1": false, "1 ": false, "true": false, "-": false} {
		if IsNumber([]byte(value)) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}
