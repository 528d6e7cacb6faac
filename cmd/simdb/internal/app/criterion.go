package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/quantity"
)

// CriterionFlags are the criterion of a search; exactly one of the two is set.
type CriterionFlags struct {
	Near    *Distance `group:"criterion" required:"" xor:"criterion" placeholder:"K" help:"Two documents are near-duplicates if at most K of the bits of their fingerprints differ (of 64 bits 3 is strict, 6 to 10 finds edited copies)."`
	Jaccard *Share    `group:"criterion" required:"" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if their Jaccard similarity, the share of common shingles, is at least T, such as 0.8 or 80% (default, without another criterion, except for pictures: 0.8)."`

	byDefault bool // the user gave none
}

// SimilarityFlags are CriterionFlags, and the measures that compare the texts themselves; exactly
// one is set.
type SimilarityFlags struct {
	CriterionFlags
	Levenshtein *Edits `group:"criterion" required:"" xor:"criterion" placeholder:"T|FIELD:T,..." help:"Two documents are near-duplicates if the Levenshtein similarity of their texts is at least T: 1 - edits / characters of the longer text; with FIELD:T,... that of the texts in each of these fields. For short texts, such as titles."`
	Cosine      *Share `group:"criterion" required:"" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if the cosine of their word counts is at least T; the order of words does not matter. For short texts."`
	Contains    *Share `group:"criterion" required:"" xor:"criterion" placeholder:"T" help:"A stored document matches a line if it contains at least the share T of the line's shingles: it quotes or includes it. In pairs, the larger document contains that share of the smaller one."`
	Within      *Share `group:"criterion" required:"" xor:"criterion" placeholder:"T" help:"A stored document matches a line if at least the share T of its own shingles is in the line: it is a part or a quotation of it. For pairs this is the same as --contains."`
}

// GroupFlags restrict matches to documents across fields, files or folders, or within a field.
type GroupFlags struct {
	Rule        *RuleFlag `group:"criterion" xor:"criterion" placeholder:"EXPR|FILE" help:"Two documents, a and b, match if an expression holds, such as 'JACCARD(chars:5, title) >= 0.8 AND a.year = b.year OR LEVENSHTEIN(name) >= 0.9'; or the expression in FILE. See docs/choosing.md."`
	Agree       []string  `group:"criterion" sep:"none" placeholder:"numbers|dates|REGEX" help:"Two documents match only if their texts have the same numbers, the same dates, or the same matches of a regular expression. Can be repeated."`
	Distinct    Distinct  `group:"criterion" placeholder:"recurring|FILE" help:"Two documents match only if they do not differ in one of these words: those in FILE, one a line, or left/right for a text that has one word against a text that has the other. recurring: no documents match that differ in the same words as other pairs, as in a catalogue. See docs/choosing.md."`
	Across      string    `group:"criterion" xor:"groups" placeholder:"FIELD|file|folder" help:"Two documents match only if they differ in this field, or come from different files or folders. Documents without the field count as equal."`
	WithinField string    `group:"criterion" xor:"groups" placeholder:"FIELD" help:"Two documents match only if they are equal in this field."`
}

// Grouped reports whether any of the flags is set.
func (f GroupFlags) Grouped() bool {
	return f.Across != "" || f.WithinField != "" || f.Rule != nil || f.Agree != nil || f.Distinct != nil
}

// Pair returns the rule of --rule, or that of --levenshtein; nil if neither has one.
func (f GroupFlags) Pair(edits *Edits) *dedup.PairRule {
	switch {
	case f.Rule != nil:
		return &f.Rule.PairRule
	case edits != nil:
		return edits.Rule
	}
	return nil
}

// Ruled reports whether a rule decides, which gives pairs scores.
func (f GroupFlags) Ruled(edits *Edits) bool {
	return f.Pair(edits) != nil || f.Agree != nil || f.Distinct != nil
}

// Edits is the least Levenshtein similarity of texts, or a rule with one for each of several fields.
type Edits struct {
	Share
	Rule *dedup.PairRule // or nil
}

// UnmarshalText parses a share, or fields and their shares, such as name:0.9,street:0.7.
func (e *Edits) UnmarshalText(text []byte) error {
	if !strings.Contains(string(text), ":") {
		return e.Share.UnmarshalText(text)
	}
	var all []string
	for part := range strings.SplitSeq(string(text), ",") {
		at := strings.LastIndexByte(part, ':')
		if at < 1 {
			return fmt.Errorf("%q: give each field its share, as in name:0.9,street:0.7", part)
		}
		var t Share
		if err := t.UnmarshalText([]byte(part[at+1:])); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		all = append(all, fmt.Sprintf("LEVENSHTEIN(%s) >= %s", part[:at], strconv.FormatFloat(float64(t), 'f', -1, 64)))
	}
	e.Rule = &dedup.PairRule{}
	return e.Rule.UnmarshalText([]byte(strings.Join(all, " AND ")))
}

// t returns the share of whole texts, nil if there is none.
func (e *Edits) t() *float64 {
	if e == nil || e.Rule != nil {
		return nil
	}
	return (*float64)(&e.Share)
}

// Meaning describes the restrictions in words, to follow a criterion.
func (f GroupFlags) Meaning() (m string) {
	for _, what := range f.Agree {
		if what != features.MaskNumbers && what != features.MaskDates {
			what = "matches of " + what
		}
		m += ", they have the same " + what
	}
	if f.Distinct != nil {
		m += ", they do not differ in words that " + option.Name("Distinct") + " names"
	}
	switch {
	case f.Across != "":
		m += ", and they differ in the " + f.Across
	case f.WithinField != "":
		m += ", and they are equal in the field " + f.WithinField
	}
	return m
}

// RuleFlag is a rule of pairs, or the name of a file that has one.
type RuleFlag struct{ dedup.PairRule }

// UnmarshalText parses a rule, or reads it from a file. An error is one line with the place.
func (r *RuleFlag) UnmarshalText(text []byte) error {
	name, at := string(text), ""
	missing := strings.ContainsAny(name, "<=>")
	if !missing {
		content, err := place.ReadFile(context.Background(), name)
		if missing = errors.Is(err, fs.ErrNotExist); missing && !strings.Contains(name, " ") {
			return fmt.Errorf("%q is neither a file nor a rule such as 'JACCARD >= 0.8 AND a.year = b.year'", name)
		}
		if err != nil && !missing {
			return err
		}
		if !missing {
			text, at = content, name+":"
		}
	}
	err := r.PairRule.UnmarshalText(text)
	wrong, ok := errors.AsType[*pairrule.Error](err)
	if !ok {
		return err
	}
	line, column := wrong.Position()
	if at != "" || line > 1 {
		at += fmt.Sprint(line, ":")
	} else {
		at = "column "
	}
	return fmt.Errorf("%s%d: %s", at, column, wrong.Sentence())
}

// Distinct is the words in which documents may not differ, as in a dedup.Job.
type Distinct []string

// UnmarshalText reads the file of the words, unless the text is "recurring".
func (d *Distinct) UnmarshalText(text []byte) error {
	name := string(text)
	if name == "recurring" {
		*d = Distinct{name}
		return nil
	}
	content, err := place.ReadFile(context.Background(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q is neither a file of words nor \"recurring\"", name)
	}
	if err != nil {
		return err
	}
	*d = Distinct{}
	number := 0
	for line := range strings.Lines(withoutComments(content)) {
		number++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		*d = append(*d, line)
		if err := dedup.CheckDistinct(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	if len(*d) == 0 {
		return fmt.Errorf("%s has no words", name)
	}
	return nil
}

// FilesCriterionFlags are the criterion of a job on files, which compares the texts themselves. At
// most one is set, except that Verify may be set as well.
type FilesCriterionFlags struct {
	Near        *Distance `group:"criterion" xor:"criterion" placeholder:"K" help:"Two documents are near-duplicates if at most K of the bits of their fingerprints differ (of 64 bits 3 is strict, 6 to 10 finds edited copies of long texts)."`
	Jaccard     *Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if their Jaccard similarity, the share of common shingles, is at least T, such as 0.8 or 80%; it is computed from the texts (default, without another criterion, except for pictures: 0.8)."`
	Levenshtein *Edits    `group:"criterion" xor:"criterion" placeholder:"T|FIELD:T,..." help:"Two documents are near-duplicates if the Levenshtein similarity of their texts is at least T: 1 - edits / characters of the longer text; with FIELD:T,... that of the texts in each of these fields. For short texts, such as titles."`
	Cosine      *Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if the cosine of their word counts is at least T; the order of words does not matter. For short texts."`
	Within      *Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Drop a document if another document, which is kept, contains at least the share T of its shingles: quotations, excerpts and earlier versions. Among the inputs the larger document is kept; --keep decides between equally large ones. Documents of --against may have any size."`
	Seen        *Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Drop a document, or with --level a paragraph or line, if at least the share T of its shingles, at each of their positions, is in texts before it that stay, or in --against: text with small changes, and text assembled from several others. Nothing that only dropped texts had is lost."`
	Verify      *Share    `group:"criterion" placeholder:"T" help:"With --near: two documents are near-duplicates only if their Jaccard similarity is also at least T."`
}

// Measures returns the measures that the flags set.
func (f FilesCriterionFlags) Measures() dedup.Measures {
	return dedup.Measures{
		Near: (*int)(f.Near), Verify: (*float64)(f.Verify), Jaccard: (*float64)(f.Jaccard),
		Levenshtein: f.Levenshtein.t(), Cosine: (*float64)(f.Cosine), Within: (*float64)(f.Within), Seen: (*float64)(f.Seen),
	}
}

// CriterionUsage rewrites usage lines to show that one criterion flag may be given, or that one
// flag of prune must be given.
var CriterionUsage = strings.NewReplacer(
	"--older=AGE --expired=FIELD --ttl=AGE", "--older=AGE|--expired=FIELD|--ttl=AGE",
	"--near=K --jaccard=T --levenshtein=T|FIELD:T,... --cosine=T --contains=T --within=T --seen=T", "[--near=K | --jaccard=T | ...]",
	"--near=K --jaccard=T --levenshtein=T|FIELD:T,... --cosine=T --contains=T --within=T", "[--near=K | --jaccard=T | ...]",
	"--near=K --jaccard=T", "[--near=K | --jaccard=T]")

// EstimateFlag is for searches in a database.
type EstimateFlag struct {
	Estimate bool `group:"criterion" help:"With --jaccard: estimate similarities from sketches, which is faster; by default they are computed from the texts, if the database stores them."`
}

// Distance is a number of bits, up to the length of the longest fingerprint.
type Distance int

// UnmarshalText parses a distance.
func (d *Distance) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > base.MaxWords*base.FingerprintBits {
		return fmt.Errorf("%q: K is a number of bits such as 3, from 0 to the length of a fingerprint: 64, or up to 1024 with %s", text, option.Name("Bits"))
	}
	*d = Distance(n)
	return nil
}

// Share is a number greater than 0 and at most 1.
type Share float64

// UnmarshalText parses a share.
func (s *Share) UnmarshalText(text []byte) error {
	v, ok := quantity.ParseShare(string(text))
	if field, _, several := strings.Cut(string(text), ":"); several {
		return fmt.Errorf("%q: a threshold for each field is a rule, such as --rule 'LEVENSHTEIN(%s) >= 0.9 AND JACCARD(title) >= 0.8'", text, field)
	}
	if !ok || !(v > 0 && v <= 1) {
		return fmt.Errorf("%q: T is a share above 0 and up to 1, such as 0.8 or 80%%", text)
	}
	*s = Share(v)
	return nil
}

// Percent returns the share in percent with the digits that the user gave: 55 for 0.55, although
// 100*0.55 is slightly more.
func (s Share) Percent() string { return fmt.Sprintf("%.12g %%", 100*float64(s)) }

// Measures returns the measures that the flags set.
func (f SimilarityFlags) Measures() dedup.Measures {
	return dedup.Measures{
		Near: (*int)(f.Near), Jaccard: (*float64)(f.Jaccard), Levenshtein: f.Levenshtein.t(), Cosine: (*float64)(f.Cosine),
		Contains: (*float64)(f.Contains), Within: (*float64)(f.Within),
	}
}

// Criterion returns the criterion of the flags. If estimated is set, Jaccard similarities are
// estimated from sketches.
func (f SimilarityFlags) Criterion(estimated bool) engine.Criterion {
	by := f.Measures().Criterion()
	if estimated {
		by = by.Estimated()
	}
	return by
}

// Scored returns the criterion for Columns and Values if a rule decides: its matches have no distances.
func (f CriterionFlags) Scored(ruled bool) CriterionFlags {
	if ruled {
		f.Near = nil
	}
	return f
}

// Columns appends the names of the columns that measure a match.
func (f CriterionFlags) Columns(columns ...string) []string {
	if f.Near == nil {
		return append(columns, "score", "error", "exact")
	}
	return append(columns, "distance")
}

// Values appends the values of Columns.
func (f CriterionFlags) Values(m engine.Match, values ...any) []any {
	if f.Near == nil {
		return append(values, m.Score, m.Error, m.Exact)
	}
	return append(values, m.Distance)
}

// Meaning says in words what makes two documents near-duplicates.
func Meaning(by engine.Criterion) string {
	t := Share(by.T())
	switch by.Kind() {
	case "near":
		return fmt.Sprintf("at most %d bits of their fingerprints differ", by.K())
	case "levenshtein":
		return fmt.Sprintf("the edit similarity of their texts is at least %s", t.Percent())
	case "cosine":
		return fmt.Sprintf("the cosine of their word counts is at least %g", t)
	case "contains", "within":
		return fmt.Sprintf("one contains at least %s of the shingles of the other", t.Percent())
	}
	m := fmt.Sprintf("they share at least %s of their shingles", t.Percent())
	if by.IsEstimated() {
		m += ", as estimated"
	}
	return m
}

// Contained reports whether the criterion is a containment.
func (f SimilarityFlags) Contained() bool { return f.Contains != nil || f.Within != nil }
