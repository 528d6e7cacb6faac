package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharePercent checks that every share of two digits is shown with the same digits.
func TestSharePercent(t *testing.T) {
	for n := 1; n <= 100; n++ {
		var s Share
		if err := s.UnmarshalText(fmt.Appendf(nil, "%.2f", float64(n)/100)); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Percent(), fmt.Sprintf("%d %%", n); got != want {
			t.Errorf("%v is %s, not %s", float64(s), got, want)
		}
	}
}

// TestRuleFlag parses rules, reads those of files, and checks that an error is one line with the place.
func TestRuleFlag(t *testing.T) {
	dir := t.TempDir()
	right, wrong := filepath.Join(dir, "right"), filepath.Join(dir, "wrong")
	if err := errors.Join(os.WriteFile(right, []byte("-- a rule\nJACCARD >= 0.5\n"), 0o666), os.WriteFile(wrong, []byte("JACCARD >= 0.5\n AND a.year = year"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"JACCARD >= 0.5":                       "",
		"JACCARD 0.5":                          "",
		"a.year IS NOT DISTINCT FROM b.year":   "",
		"JACCARD 0.5 AND NOT DIFFERS('a','b')": "",
		right:                                  "",
		wrong:                                  wrong + ":2:15: expected the other document's side",
		"JACCARD > 0.5":                        `column 9: expected >=, as in JACCARD >= 0.8, not ">"`,
		"JACCARD >= 0.5\nAND JACARD >= 0.7":    `2:5: expected a comparison, not "JACARD": did you mean JACCARD?`,
		"no-file":                              `"no-file" is neither a file nor a rule such as `,
		dir:                                    dir,
	} {
		var r RuleFlag
		err := r.UnmarshalText([]byte(text))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
