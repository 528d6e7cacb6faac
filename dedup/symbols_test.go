package dedup

import "testing"

func TestSumOf(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"x == y", "X  ==\ty", true},
		{"x == y", "x==y.", true},
		{"“x” – (y)", "x: y!", true},
		{"wow! yes", "wow yes", true},
		{"x == y", "x != y", false},
		{"x == y", "x = y", false},
		{"if x {", "if !x {", false},
		{"+a b", "a +b", false},
		{"a + b - c", "a - b + c", false},
		{"5 € a", "5 $ a", false},
		{"a ≤ b", "a ≥ b", false},
		{"", "plain words, no more", true},
	} {
		if got := sumOf(c.a) == sumOf(c.b); got != c.same {
			t.Errorf("sums of %q and %q: equal %v, want %v", c.a, c.b, got, c.same)
		}
	}
}
