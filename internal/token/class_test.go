package token

import (
	"testing"
	"unicode"
)

var soloScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
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
		class, lower := property(r)
		if class != want || class != classOther && lower != unicode.ToLower(r) {
			t.Fatalf("property(%U) = %d, %U; want %d, %U", r, class, lower, want, unicode.ToLower(r))
		}
	}
}
