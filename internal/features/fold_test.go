package features

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// same lists texts that are equal when everything is folded, by script.
var same = map[string][][2]string{
	"Latin, case":           {{"The QUICK Brown Fox", "the quick brown fox"}, {"STRASSE GROẞ", "Straße groß"}, {"Congreſs", "Congress"}, {"oﬃce ﬂow", "OFFICE FLOW"}},
	"Latin, accents":        {{"Crème brûlée à l'été", "Creme brulee a l'ete"}, {"Łódź Ærø Đorđe", "Lodz Aero Dorde"}, {"cafe\u0301", "caf\u00e9"}},
	"Vietnamese":            {{"Tiếng Việt Đà Nẵng", "Tieng Viet Da Nang"}, {"Tiê\u0301ng", "Tiếng"}},
	"Turkish":               {{"İSTANBUL IĞDIR", "istanbul ığdır"}, {"çığ", "CIG"}},
	"Greek":                 {{"ΟΔΟΣ ΤΗΣ ΠΟΛΕΩΣ", "Οδός της πόλεως"}, {"προϋπολογισμός", "ΠΡΟΥΠΟΛΟΓΙΣΜΟΣ"}, {"ἐν ἀρχῇ ἦν ὁ λόγος", "εν αρχη ην ο λογος"}},
	"Cyrillic":              {{"ЁЛКА И Ёж", "елка и еж"}, {"за́мок", "замок"}, {"Іѡа\u0483ннъ", "іѡаннъ"}},
	"Armenian":              {{"ԵՐԵՒԱՆ", "Երևան"}},
	"Georgian":              {{"ᲗᲑᲘᲚᲘᲡᲘ", "თბილისი"}},
	"Cherokee":              {{"ᏣᎳᎩ", "ꮳꮃꭹ"}},
	"Deseret":               {{"𐐀𐐁", "𐐨𐐩"}},
	"Arabic, marks":         {{"كَتَبَ الطَّالِبُ الدَّرْسَ", "كتب الطالب الدرس"}, {"رَحۡمَٰن", "رحمن"}},
	"Arabic, letters":       {{"أحمد إلى آخر ٱلشارع الأولى", "احمد الي اخر الشارع الاولي"}, {"المدرسة", "المدرسه"}, {"كتـــب", "كتب"}, {"ﻣﺪﺭﺳﺔ ﷲ", "مدرسة الله"}, {"٢٠٢٤", "2024"}},
	"Persian":               {{"این یک کتاب برای یادگیری", "اين يك كتاب براي يادگيري"}, {"می\u200cخواهم", "میخواهم"}, {"۱۴۰۳", "1403"}, {"خانۀ", "خانه"}},
	"Hebrew":                {{"שָׁלוֹם עֲלֵיכֶם", "שלום עליכם"}, {"בְּרֵאשִׁ֖ית בָּרָ֣א", "בראשית ברא"}, {"ﬡﬢ שּׁ", "אד ש"}},
	"Syriac":                {{"ܫܠܳܡܳܐ", "ܫܠܡܐ"}},
	"Devanagari":            {{"क\u093c़", "क\u093c़"}, {"\u0958लम", "क\u093cलम"}},
	"Thai":                  {{"น้ำ", "น้ํา"}},
	"Japanese":              {{"ｶﾞｷﾞｸﾞ ﾊﾟﾝ", "ガギグ パン"}, {"か\u3099", "が"}, {"ＡＢＣ１２３", "ABC123"}, {"㍻", "平成"}},
	"Korean":                {{"한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"}, {"ﾡ", "ᄀ"}},
	"hyphens and invisible": {{"exam-\nple of a soft\u00adhyphen", "example of a softhyphen"}, {"well‐known co‑op − x", "well-known co-op - x"}, {"zero\u200bwidth\ufeff", "zerowidth"}},
}

// apart lists texts that stay different.
var apart = [][2]string{
	{"कि", "की"}, {"कल", "काल"}, {"कम", "कर्म"}, {"ক", "কি"}, {"மன", "மனை"}, // Indic vowel signs
	{"ข้าว", "ขาว"}, {"ปา", "ป่า"}, {"ກາ", "ກ້າ"}, {"ក", "កា"}, {"ကာ", "က"}, // Thai, Lao, Khmer, Burmese
	{"か", "が"}, {"ハ", "パ"}, {"あ", "ア"}, {"ދިވެހި", "ދވހ"}, // kana, and Thaana, whose vowels are marks
	{"שלומ", "שלום"}, {"كتاب", "كتب"}, {"ب", "پ"}, {"ཀ", "ཀི"}, // final letters, letters of their own
	{"a b", "ab"}, {"re-\nsort", "re sort"}, {"1", "2"}, {"Jean-\nPaul", "JeanPaul"},
}

// TestFoldings compares all pairs by words, by characters and as whole texts.
func TestFoldings(t *testing.T) {
	spec := func(unit Unit, names ...string) Spec {
		s, err := Spec{Unit: unit, Fold: names}.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	equal := func(s Spec, a, b string) bool {
		h := NewSetHasher(s, 1, 0)
		return slices.Equal(h.Set([]byte(a)), h.Set([]byte(b)))
	}
	folder := spec(Words, "all").NewTextFolder()
	for script, pairs := range same {
		for _, p := range pairs {
			if !equal(spec(Words, "all"), p[0], p[1]) || !equal(spec(Chars, "all"), p[0], p[1]) {
				t.Errorf("%s: %q and %q differ", script, spec(Words, "all").Words(p[0]), spec(Words, "all").Words(p[1]))
			}
			a := string(folder.Fold([]byte(p[0])))
			if b := string(folder.Fold([]byte(p[1]))); a != b {
				t.Errorf("%s: whole texts %q and %q differ", script, a, b)
			}
		}
	}
	for _, p := range apart {
		if equal(spec(Words, "all"), p[0], p[1]) {
			t.Errorf("%q and %q are equal", p[0], p[1])
		}
	}
	// Each folding alone, and the text that it leaves.
	for name, p := range map[string][3]string{
		"accents": {"é ά كَ שָׁ ё", "e α ك ש е", "ة"}, "arabic": {"كَة أٱى ـ٣", "كه ااي 3", "é"}, "hebrew": {"שָׁ", "ש", "كَ"},
		"persian": {"یکۀ۳", "يكه3", "ى"}, "greek": {"ΐ ῇς", "ι ησ", "é"}, "width": {"ｶ ﬁ a\u00adb", "カ fi ab", "é"}, "hyphens": {"a-\nb‑c", "ab-c", "é"},
		"nfc": {"e\u0301", "é", "ﬁ"},
	} {
		f := spec(Words, name).NewTextFolder()
		if got := string(f.Fold([]byte(p[0]))); got != p[1] {
			t.Errorf("%s: %q became %q, want %q", name, p[0], got, p[1])
		}
		if got := Idle([]string{name, "case", "all"}, f.Changed()); !slices.Equal(got, []string{"case"}) && name != "nfc" {
			t.Errorf("%s: %q have changed nothing", name, got)
		}
		f = spec(Words, name).NewTextFolder()
		if got := string(f.Fold([]byte(p[2]))); got != p[2] || f.Changed() != 0 {
			t.Errorf("%s: %q became %q", name, p[2], got)
		}
	}
}

// TestFoldingsAreFrozen fails if a release of Go or x/text changes the replacements of a folding, because
// stored fingerprints would then depend on the program.
func TestFoldingsAreFrozen(t *testing.T) {
	var all strings.Builder
	for i, name := range foldNames {
		if name == V2 {
			continue
		}
		f := Spec{Fold: []string{name}}.NewTextFolder()
		for r := range rune(unicode.MaxRune + 1) {
			if text := string(r); string(f.Fold([]byte("x"+text))) != "x"+text {
				fmt.Fprintf(&all, "%d %x %x\n", i, r, f.Fold([]byte("x"+text)))
			}
		}
	}
	if sum := crc32.ChecksumIEEE([]byte(all.String())); sum != 0xca09ed5e {
		t.Errorf("the foldings have the checksum %#x", sum)
	}
}
