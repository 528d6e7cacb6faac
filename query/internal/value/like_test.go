package value

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func randomText(rng *rand.Rand, alphabet string, longest int) string {
	runes := []rune(alphabet)
	out := make([]rune, rng.IntN(longest+1))
	for i := range out {
		out[i] = runes[rng.IntN(len(runes))]
	}
	return string(out)
}

// TestLike compares LIKE with a regular expression of the same meaning.
func TestLike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 30000 {
		pattern, escape := randomText(rng, "ab%_é!.", 7), ""
		if rng.IntN(2) == 0 {
			escape = "!"
		}
		s := randomText(rng, "abé.!%", 9)
		var re strings.Builder
		re.WriteString("(?s)^")
		escaping := false
		for _, r := range pattern {
			switch {
			case escaping:
				re.WriteString(regexp.QuoteMeta(string(r)))
				escaping = false
			case string(r) == escape:
				escaping = true
			case r == '%':
				re.WriteString(".*")
			case r == '_':
				re.WriteString(".")
			default:
				re.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
		re.WriteString("$")
		p, ok := CompilePattern(pattern, escape)
		if ok == escaping {
			t.Fatalf("%q ESCAPE %q: accepted %v", pattern, escape, ok)
		}
		if !ok {
			continue
		}
		if got, want := p.Match(s), regexp.MustCompile(re.String()).MatchString(s); got != want {
			t.Fatalf("%q LIKE %q ESCAPE %q: %v", s, pattern, escape, got)
		}
		if p.Match(s) && !strings.HasPrefix(s, p.Prefix) || p.Exact && p.Match(s) != (s == p.Prefix) {
			t.Fatalf("%q LIKE %q: prefix %q, exact %v", s, pattern, p.Prefix, p.Exact)
		}
	}
}

// A pattern with many % must not need exponential time; the test would not end.
func TestLikeTime(t *testing.T) {
	p, _ := CompilePattern(strings.Repeat("a%", 200)+"b", "")
	if p.Match(strings.Repeat("a", 20000)) {
		t.Error("it matches")
	}
}
