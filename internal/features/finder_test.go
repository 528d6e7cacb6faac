package features

import (
	"strings"
	"testing"
	"unicode"
)

// TestFinderOfScripts finds numbers and dates in the digits of several scripts.
func TestFinderOfScripts(t *testing.T) {
	for _, r := range unicode.Nd.R32 {
		if (r.Hi-r.Lo+1)%10 != 0 || r.Stride != 1 {
			t.Errorf("%x to %x are not runs of ten digits", r.Lo, r.Hi)
		}
	}
	for _, r := range unicode.Nd.R16 {
		if r.Hi-r.Lo != 9 || r.Stride != 1 {
			t.Errorf("%x to %x are not ten digits", r.Lo, r.Hi)
		}
	}
	for text, want := range map[string]string{
		"１２.5 ٣٤ ۵۶ ७८ \U0001d7d9\U0001d7ff ២០ x": "12.5 34 56 78 19 20", "ten, ２０２６-１２-０１": "2026 12 01", "½ Ⅻ 三": "", "a٠": "0",
	} {
		if got := strings.Join(found(t, MaskNumbers, text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := found(t, MaskDates, "on ２０２６-１２-０１, then"); len(got) != 1 || got[0] != "2026-12-01" {
		t.Errorf("dates: %q", got)
	}
	if got := found(t, "[0-9]+", "１２ 3"); len(got) != 1 || got[0] != "3" {
		t.Errorf("an expression matches the text as it is written: %q", got)
	}
}

func found(t *testing.T, mask, text string) (all []string) {
	t.Helper()
	find, err := Finder(mask)
	if err != nil {
		t.Fatal(err)
	}
	find([]byte(text), func(match []byte) { all = append(all, string(match)) })
	return all
}
