package features

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/simdb/simdb/internal/must"
)

// TestNormalFormsAreFrozen fails if a release of x/text or Go uses the normal forms of another
// version of Unicode, because stored fingerprints would then depend on the program.
func TestNormalFormsAreFrozen(t *testing.T) {
	if norm.Version != "15.0.0" {
		t.Errorf("normal forms are those of Unicode %s, docs/format/fingerprints.md says 15.0", norm.Version)
	}
}

var canonical = []struct {
	spec Spec
	text string
}{
	{Spec{}, ""},
	{Spec{Unit: Words, Fold: []string{"none"}}, ""},
	{Spec{Unit: Chars, MinWords: 3}, "unit chars\nmin-words 3\n"},
	{Spec{Code: "pdq"}, "code pdq\n"},
	{Spec{Unit: Set}, "unit set\nset-field set\n"},
	{Spec{SetField: "a b"}, "unit set\nset-field a b\n"},
	{Spec{Fields: []Field{{"title", 3}, {"body text", 1}}, Fold: []string{"width", "accents"}},
		"field 3 title\nfield 1 body text\nfold accents\nfold width\n"},
	{Spec{Fold: []string{"letters", "nfc"}}, "fold accents\nfold arabic\nfold hebrew\nfold persian\nfold greek\n"},
	{Spec{Fold: []string{"nfc", "case"}}, "fold case\nfold nfc\n"},
	{Spec{Fold: []string{V2}}, ""},
	{Spec{Fold: []string{"width", V2, "letters", "nfc"}, Unit: Chars}, "unit chars\nnormalize nfkc\nstrip-diacritics\n"},
	{Spec{Fold: []string{"nfc", V2, "accents"}}, "normalize nfc\nstrip-diacritics\n"},
	{Spec{RequireWords: []string{"The of", "OF", "don't"}}, "required don\nrequired of\nrequired t\nrequired the\n"},
	{Spec{StopWords: []string{"The of; =="}, Symbols: true}, "symbols\nleft-out ;\nleft-out ==\nleft-out of\nleft-out the\n"},
	{Spec{Mask: []string{"numbers", "a b+", "numbers", "dates"}, StopWords: []string{"x"}, Unit: Chars},
		"unit chars\nmask a b+\nmask dates\nmask numbers\nleft-out x\n"},
}

func TestSpecText(t *testing.T) {
	for _, c := range canonical {
		s, err := c.spec.Canonical()
		if err != nil || s.String() != c.text {
			t.Errorf("%+v: %q, %v; want %q", c.spec, s, err, c.text)
			continue
		}
		p, err := Parse(c.text, c.spec.Version())
		if err != nil || p.String() != c.text || fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", s) {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.text, p, err, s)
		}
	}
}

func TestSpecRefuses(t *testing.T) {
	for _, s := range []Spec{
		{Unit: "lines"}, {Code: "a\nb"}, {Code: strings.Repeat("x", MaxName+1)}, {Fold: []string{"nfd"}}, {Fold: []string{V2, "arabic"}}, {Fold: []string{V2, "case"}}, {MinWords: -1}, {StopWords: []string{}}, {RequireWords: []string{" \n"}},
		{Unit: Chars, RequireWords: []string{"a"}}, {Unit: Set, Symbols: true}, {Unit: Set, Mask: []string{"numbers"}},
		{Mask: []string{""}}, {Mask: []string{"("}}, {Mask: []string{"a\nb"}}, {Mask: []string{"\xff"}}, {Mask: slices.Collect(manyMasks)}, {Unit: Chars, SetField: "a"}, {Unit: Set, Fields: []Field{{"a", 1}}},
		{Unit: Set, Fold: []string{"nfc"}}, {Fields: []Field{{"a", 0}}}, {Fields: []Field{{"a", MaxWeight + 1}}},
		{Fields: []Field{{"", 1}}}, {Fields: []Field{{"a", 1}, {"a", 2}}}, {Fields: []Field{{"a\nb", 1}}},
		{Fields: make([]Field, MaxFields+1)}, {StopWords: []string{strings.Repeat("a", MaxEncoded)}},
	} {
		if c, err := s.Canonical(); err == nil {
			t.Errorf("%+v became %+v", s, c)
		}
	}
	for text, unknown := range map[string]bool{
		"unit bytes\n": true, "weights idf\n": true, "fold nfd\n": true, "fold width\nfold accents\n": false, "fold nfc\nfold width\n": false, "fold none\n": true, "normalize nfc\n": false, "strip-diacritics\n": false, "\n": true,
		"unit words\n": true, "unit chars": false, "min-words 0\n": false, "min-words x\n": false, "min-words 1\n": false, "min-words 03\n": false,
		"left-out the\nleft-out of\n": false, "left-out The\n": false, "stop-word the\n": true, "mask numbers\nmask dates\n": false, "mask (\n": false, "min-words 3\nunit chars\n": false,
		"unit set\n": false, "field title 3\n": false,
	} {
		s, err := Parse(text, 3)
		if err == nil || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("Parse(%q) = %+v, %v", text, s, err)
		}
	}
}

// manyMasks yields more masks than a Spec allows.
func manyMasks(yield func(string) bool) {
	for i := 0; i <= MaxMasks && yield(fmt.Sprint("a", i)); i++ {
	}
}

// FuzzParse checks that Parse accepts only canonical specs.
func FuzzParse(f *testing.F) {
	for _, c := range canonical {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text, 3); err == nil && s.String() != text {
			t.Errorf("Parse(%q) is %q", text, s)
		}
	})
}

func TestOverride(t *testing.T) {
	have := Spec{Unit: Chars, Fold: []string{"nfc"}, MinWords: 2}
	if got := have.Override(Spec{}); fmt.Sprint(got) != fmt.Sprint(have) {
		t.Errorf("nothing made %+v", got)
	}
	if got := have.Override(Spec{Fold: []string{"none"}, SetField: "s"}); got.Unit != Set || got.Fold[0] != "none" || got.MinWords != 2 {
		t.Errorf("%+v", got)
	}
}

// all is a Sink that collects the set of copies of all features.
type all map[uint64]bool

func (a all) Features(hashes []uint64, weight float64) {
	for _, h := range appendCopies(nil, hashes, weight) {
		a[h] = true
	}
}

// naive returns the set of copies of the features of a text, as strings.
func naive(s Spec, k int, text string) map[string]bool {
	set, words := map[string]bool{}, 0
	add := func(feature string, weight int) {
		for i := range weight {
			set[fmt.Sprintf("%d %s", i, feature)] = true
		}
	}
	if s.Unit == Set {
		for m := range strings.FieldsSeq(strings.Map(func(r rune) rune {
			if strings.ContainsRune(`[]",`, r) {
				return ' '
			}
			return r
		}, text)) {
			words++
			add(m, 1)
		}
	} else {
		fields, texts := s.Fields, []string{text}
		if fields == nil {
			fields = []Field{{"text", 1}}
		} else {
			texts = strings.SplitN(text, string(rune(Separator)), len(fields))
		}
		for i, text := range texts {
			text = naiveStop(s, naiveMask(s, naiveNormal(s, text)))
			units := naiveWords(s, text)
			words += len(units)
			if s.Unit == Chars && (s.Symbols || strings.ContainsFunc(text, letterOrNumber)) {
				units = naiveChars(s, text)
			}
			for at := 0; at == 0 && len(units) > 0 || at+k <= len(units); at++ {
				shingle := units[at:min(at+k, len(units))]
				if s.RequireWords == nil || slices.ContainsFunc(shingle, func(w string) bool { return slices.Contains(s.RequireWords, w) }) {
					add(strings.Join(shingle, "|"), int(fields[i].Weight))
				}
			}
		}
	}
	if words < s.MinWords {
		return nil
	}
	return set
}

func letterOrNumber(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }

// unicodeFold is an implementation of full case folding.
var unicodeFold = cases.Fold()

// wordPattern matches words by a regular expression: of a script without spaces, of other letters,
// of symbols.
var wordPattern = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]\p{M}*|(?:[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}]|[\p{M}\p{N}])+|[^\p{L}\p{M}\p{N}\s\p{Z}\x85\v]+`)

func naiveWords(s Spec, text string) (words []string) {
	if !s.Symbols && !strings.ContainsFunc(text, letterOrNumber) {
		if text = strings.TrimSpace(text); text == "" || strings.Contains(text, "\ufffd") {
			return nil
		}
		return []string{text}
	}
	for _, w := range wordPattern.FindAllString(text, -1) {
		if r, _ := utf8.DecodeRuneInString(w); s.Symbols || unicode.In(r, unicode.L, unicode.M, unicode.N) {
			words = append(words, unicodeFold.String(w))
		}
	}
	return words
}

// naiveMask masks numbers and four-digit years.
func naiveMask(s Spec, text string) string {
	if slices.Contains(s.Mask, `\b[12]\d{3}\b`) {
		text = wordPattern.ReplaceAllStringFunc(text, func(w string) string {
			if len(w) == 4 && (w[0] == '1' || w[0] == '2') && strings.Trim(w, "0123456789") == "" {
				return placeholder
			}
			return w
		})
	}
	if slices.Contains(s.Mask, MaskNumbers) {
		text = regexp.MustCompile(`[0-9]+(?:[.,:][0-9]+)*`).ReplaceAllString(text, placeholder)
	}
	return text
}

// naiveStop removes stop words.
func naiveStop(s Spec, text string) string {
	if s.StopWords == nil || !slices.ContainsFunc(naiveWords(s, text), func(w string) bool { return !slices.Contains(s.StopWords, w) }) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		m := wordPattern.FindStringIndex(text[at:])
		if m == nil {
			b.WriteString(text[at:])
			break
		}
		b.WriteString(text[at : at+m[0]])
		w := text[at+m[0] : at+m[1]]
		if r, _ := utf8.DecodeRuneInString(w); slices.Contains(s.StopWords, unicodeFold.String(w)) && (s.Symbols || unicode.In(r, unicode.L, unicode.M, unicode.N)) {
			w = " "
		}
		b.WriteString(w)
		at += m[1]
	}
	return b.String()
}

func naiveChars(s Spec, text string) (chars []string) {
	joined := strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && (!s.Symbols || unicode.IsSpace(r))
	}), " ")
	for _, r := range unicodeFold.String(joined) {
		chars = append(chars, string(r))
	}
	return chars
}

func naiveNormal(s Spec, text string) string {
	open, form := norm.NFD, norm.NFC
	if slices.Contains(s.Fold, "width") {
		open, form = norm.NFKD, norm.NFKC
		text = strings.NewReplacer("\u00ad", "", "\u200b", "", "\u200d", "", "\ufeff", "").Replace(text)
	}
	if slices.Contains(s.Fold, "accents") {
		text = strings.NewReplacer("\u0301", "", "\u0308", "", "\u0306", "", "\u030c", "", "ł", "l", "Ł", "l", "ß", "ss", "ﬁ", "fi").Replace(open.String(text))
	}
	if s.Fold != nil {
		text = form.String(text)
	}
	return text
}

// randomText returns a text of few different words, some in variant spellings, so that texts have
// common features.
func randomText(r *rand.Rand, s Spec) string {
	words := []string{"the", "of", "Café", "cafe\u0301", "ＡＢ", "ab", "ex\u00adample", "example", "й", "一二", "x", "Ünder", "under", "17", "a\u200bb", "fin", "ﬁn",
		"2024", "1.234.5", "took 12ms", "==", "x!=y", ";", "😂", "\u0301", "Łódź", "straße", "が"}
	var b strings.Builder
	for range r.IntN(25) {
		b.WriteString(words[r.IntN(len(words))])
		separators := []string{" ", "\n", ", ", " -- ", string(rune(Separator))}
		if s.Unit == Set {
			separators = separators[:2]
		}
		b.WriteString(separators[r.IntN(len(separators))])
	}
	if s.Unit == Set && r.IntN(2) == 0 {
		return SetText(strings.Fields(b.String())...)
	}
	return b.String()
}

// TestWalker compares Walker with features made of strings: for any two texts, their sets must have
// the same sizes and the same number of common elements.
func TestWalker(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 15))
	for _, c := range []struct {
		k    int
		spec Spec
	}{
		{3, Spec{}}, {1, Spec{}}, {5, Spec{Unit: Chars}}, {2, Spec{Unit: Chars, Fold: []string{"width"}, MinWords: 3}}, {1, Spec{Unit: Set}},
		{1, Spec{Unit: Set, MinWords: 4}}, {2, Spec{Fields: []Field{{"a", 3}, {"b", 1}}}}, {2, Spec{Fields: []Field{{"a", 1}, {"b", 5}, {"c", 2}}, MinWords: 5}},
		{3, Spec{RequireWords: []string{"the of"}}}, {2, Spec{RequireWords: []string{"café"}, Fold: []string{"nfc"}}},
		{3, Spec{StopWords: []string{"the of"}}}, {2, Spec{StopWords: []string{"café"}, Fold: []string{"nfc"}}}, {3, Spec{Unit: Chars, StopWords: []string{"the of 一"}}},
		{1, Spec{Symbols: true}}, {3, Spec{Symbols: true, StopWords: []string{"; the"}}}, {2, Spec{Symbols: true, RequireWords: []string{"== of"}}},
		{3, Spec{Unit: Chars, Symbols: true}}, {2, Spec{Mask: []string{MaskNumbers}}}, {1, Spec{Mask: []string{`\b[12]\d{3}\b`}, StopWords: []string{"x"}}},
		{2, Spec{Mask: []string{MaskNumbers, `\b[12]\d{3}\b`}, Symbols: true, MinWords: 3}}, {2, Spec{Unit: Chars, Mask: []string{MaskNumbers}, StopWords: []string{"the"}}},
		{2, Spec{Fields: []Field{{"a", 3}, {"b", 1}}, Symbols: true, Mask: []string{MaskNumbers}, StopWords: []string{"of ;"}, Fold: []string{"width"}}},
		{1, Spec{Fold: []string{"nfc"}}}, {2, Spec{Fold: []string{"width"}}}, {2, Spec{Fold: []string{"width", "accents"}}}, {2, Spec{Fold: []string{"accents"}}},
		{5, Spec{Unit: Chars, Fields: []Field{{"a", 2}, {"b", 1}}}}, {3, Spec{MinWords: 6}},
	} {
		s := must.Get(c.spec.Canonical())(t)
		w := NewWalker(s, c.k, 0)
		var before all
		var beforeNaive map[string]bool
		for range 400 {
			text := randomText(rng, s)
			got, want := all{}, naive(s, c.k, text)
			if _, enough := w.Walk([]byte(text), got); !enough {
				got = nil
			}
			common, wantCommon := 0, 0
			for h := range got {
				if before[h] {
					common++
				}
			}
			for f := range want {
				if beforeNaive[f] {
					wantCommon++
				}
			}
			if len(got) != len(want) || common != wantCommon {
				t.Fatalf("%+v, k = %d: %q has %d features, %d of them common; want %d, %d", s, c.k, text, len(got), common, len(want), wantCommon)
			}
			before, beforeNaive = got, want
		}
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string]string{
		`["a","b c","",1,"1",null,{"x": [2]},"\u0041\n"]`: `a|b c|1|1|null|{"x": [2]}|` + "A\n",
		`  [ "a" , "b" ] `: "a|b", "a  b\tc\n": "a|b|c", "": "", "[]": "", `["a"`: `["a"`, "[a]": "[a]",
	} {
		var got []string
		Members([]byte(text), func(m []byte) { got = append(got, string(m)) })
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
	if got := SetText("a", `"<b>`); got != `["a","\"<b>"]` {
		t.Error(got)
	}
	if got := SetText(); got != "[]" {
		t.Error(got)
	}
	if got := JoinFields("a", "b\x1fc", ""); got != "a\x1fb c\x1f" {
		t.Errorf("%q", got)
	}
}

// TestFolding has a letter of each kind, in both cases: letters whose marks can be removed, and
// letters that have none. Voicing marks of Japanese are not removed.
func TestFolding(t *testing.T) {
	for _, form := range []string{"none", "nfc", "width", "v2"} {
		s := must.Get(Spec{Fold: []string{"accents", form}}.Canonical())(t)
		fold := s.Normalizer()
		for text, want := range map[string]string{
			"Łódź łódź": "lodz lodz", "Øre øre Ǿ ǿ": "ore ore o o", "Đức đức": "duc duc", "Ðð Þórr þórr": "dd thorr thorr", "Straße STRAẞE": "strasse strasse",
			"Ægir ægir Ǽ ǣ": "aegir aegir ae ae", "Œuvre œuvre": "oeuvre oeuvre", "ısı İzmir": "isi izmir", "Ħħ Ŧŧ": "hh tt", "ŉ Ŀŀ ĳ": "n ll ij",
			"ſ ﬁn ƒ Ŋŋ ĸ": "s fin f nn q", "Əə": "aa", "がカ ガ й ё": "がカ ガ и е", "日本 العربية Ωμέγα": "日本 العربية ωμεγα",
		} {
			if got := s.Rules().Fold(string(fold([]byte(text)))); got != want {
				t.Errorf("%s: %q is folded to %q, want %q", form, text, got, want)
			}
		}
	}
	for r, p := range replacements() {
		if p.by != foldAccents || p.with == "" {
			continue
		}
		if !unicode.In(r, unicode.Latin) || !norm.NFD.IsNormalString(string(r)) || strings.Trim(p.with, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%c is folded to %q", r, p.with)
		}
		for _, other := range []rune{unicode.ToLower(r), unicode.ToUpper(r)} {
			if other != r && replacements()[other].with != p.with && other > unicode.MaxASCII {
				t.Errorf("%c is folded to %q, but %c to %q", r, p.with, other, replacements()[other].with)
			}
		}
	}
}

// TestMasks has texts with the expected matches of named masks and expressions in brackets.
func TestMasks(t *testing.T) {
	for _, c := range []struct{ mask, text string }{
		{MaskNumbers, "took [12] ms, [9]ms; $[1,234.56], [10.0.0.12:5432], node[7], [0x7ffd12aB]!, x[0]x, [1].. [2],"}, {MaskNumbers, "none"},
		{MaskDates, "[2024-01-31T10:20:30.123Z] x [2024-01-31 10:20:30,123 +0100] INFO [2024/1/31]"}, {MaskDates, "[31/Jan/2024:10:20:30 +0000]"},
		{MaskDates, "[Wed Jan 31 10:20:30 UTC 2024]: [Jan  5 10:20:30] host [Mon, 31 Jan 2024 10:20:30 +0100] q"}, {MaskDates, "[January 31, 2024], [january 2024]"},
		{MaskDates, "[31.12.2024] v1.2.3 10.0.12.34 [12/31/24, 11:59:59 PM] [20240131T102030] 12345678"}, {MaskDates, "at [10:30] 16:9 maybe five [May 10] a2024-01-01"},
		{MaskDates, "[1st May 2024] [2 Feb]"}, {`err=\w+`, "a [err=x1] b[err=2]"}, {`x*`, "a [xx] b[x]"}, {`^b|c$`, "[b] bc [c]"},
	} {
		c.mask = strings.ReplaceAll(c.mask, `\\`, `\`)
		all := must.Get(compileMasks([]string{c.mask}))(t)
		text := strings.NewReplacer("[", "", "]", "").Replace(c.text)
		want := regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(c.text, placeholder)
		for range 2 {
			if got := string(all[0].appendMasked(nil, []byte(text), placeholder, nil)); got != want {
				t.Errorf("%s in %q makes %q, want %q", c.mask, text, got, want)
			}
		}
	}
	s, _ := Spec{Mask: []string{MaskNumbers, MaskDates, `id=\S+`}}.Canonical()
	if got := s.Words("2024-01-31 10:20 took 12ms id=a-17"); !slices.Equal(got, []string{"\u02cd", "took", "\u02cd", "ms", "\u02cd"}) {
		t.Errorf("%q", got)
	}
}

// FuzzMasks checks that masks terminate on any text, and match nothing in texts without digits.
func FuzzMasks(f *testing.F) {
	f.Add("Jan 31 10:20:30 2024-01-31T10:20:30Z 0x1f 1,2")
	all := must.Get(compileMasks([]string{MaskDates, MaskNumbers}))(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range all {
			masked := string(m.appendMasked(nil, []byte(text), placeholder, nil))
			if masked != text && !strings.ContainsAny(text, "0123456789") {
				t.Errorf("%q became %q", text, masked)
			}
		}
		if masked := all[1].appendMasked(nil, []byte(text), placeholder, nil); strings.ContainsAny(string(masked), "0123456789") {
			t.Errorf("%q became %q", text, masked)
		}
	})
}
