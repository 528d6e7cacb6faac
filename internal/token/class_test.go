package token

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

var soloScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

var folder = cases.Fold()

// refFold is full case folding: package cases, but Cherokee becomes capital letters, as
// CaseFolding.txt says.
func refFold(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			_, n := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+n])
		case unicode.Is(unicode.Cherokee, r):
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteString(folder.String(string(r)))
		}
	}
	return b.String()
}

func TestPropertyIsUnicode15(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Skipf("the unicode package is version %s, the table 15.0.0", unicode.Version)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := classOther
		switch {
		case unicode.IsMark(r):
			want = classMark
		case (unicode.IsLetter(r) || unicode.IsNumber(r)) && unicode.In(r, soloScripts...):
			want = classSolo
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			want = classWord
		}
		class, lower := version2.of(r)
		if class != want || class != classOther && lower != unicode.ToLower(r) {
			t.Fatalf("version2.of(%U) = %d, %U; want %d, %U", r, class, lower, want, unicode.ToLower(r))
		}
		if r == 0x345 {
			want = classWord
		}
		class, _ = version3.of(r)
		if folded := string(version3.append(nil, r)); class != want || folded != refFold(string(r)) {
			t.Fatalf("version3.of(%U) = %d, %q; want %d, %q", r, class, folded, want, refFold(string(r)))
		}
	}
}
