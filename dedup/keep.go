package dedup

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// Keep selects the keeper of a cluster. The first rule decides; the second breaks ties of the
// first, and so on. Among equally ranked documents the first wins.
type Keep []Rule

// Rule is a rule of Keep.
type Rule struct {
	Name string // first, last, longest, shortest, max, min or prefer; none; or largest
	Arg  string // the field of max and min, the pattern of prefer
}

// The rules without an argument. None drops all documents of a cluster; it must be the only rule.
var (
	First    = Rule{Name: "first"}
	Last     = Rule{Name: "last"}
	Longest  = Rule{Name: "longest"}
	Shortest = Rule{Name: "shortest"}
	None     = Rule{Name: "none"}
)

// Max prefers documents with the greatest value of a field. Values are compared as numbers if all
// are numbers, otherwise byte by byte. Documents without the field come last.
func Max(field string) Rule { return Rule{"max", field} }

// Min is like Max, for the least value.
func Min(field string) Rule { return Rule{"min", field} }

// Prefer prefers documents of files whose names match a pattern of package path.
func Prefer(pattern string) Rule { return Rule{"prefer", pattern} }

// ParseKeep parses rules separated by commas: first, last, longest, shortest, max:FIELD, min:FIELD,
// prefer:GLOB, or only none.
func ParseKeep(text string) (k Keep, err error) {
	for part := range strings.SplitSeq(text, ",") {
		r, err := parseRule(part)
		if err != nil {
			return nil, err
		}
		k = append(k, r)
	}
	return k, k.check()
}

// check returns an error if the rules exclude each other.
func (k Keep) check() error {
	if k.none() && len(k) > 1 {
		return invalid("none keeps no document of a cluster, so it must be the only rule")
	}
	return nil
}

// largest precedes all other rules with Within: that join processes documents by their numbers of
// shingles.
const largest = "largest"

// none reports whether no document of a cluster is kept.
func (k Keep) none() bool { return slices.Contains(k, None) }

func parseRule(text string) (Rule, error) {
	name, arg, _ := strings.Cut(text, ":")
	switch {
	case name == "max" || name == "min":
		if arg == "" {
			return Rule{}, fmt.Errorf("%q needs the name of a field, such as %s:score", text, name)
		}
	case name == "prefer":
		if _, err := path.Match(arg, ""); arg == "" || err != nil {
			return Rule{}, fmt.Errorf("%q needs a pattern for names of files, such as prefer:wiki*.jsonl", text)
		}
	case !slices.Contains([]string{"first", "last", "longest", "shortest", "none"}, name) || arg != "":
		return Rule{}, fmt.Errorf("%q is not one of first, last, longest, shortest, max:FIELD, min:FIELD, prefer:GLOB, none", text)
	}
	return Rule{name, arg}, nil
}

// String returns the rule in the syntax of ParseKeep.
func (k Rule) String() string {
	if k.Arg == "" {
		return k.Name
	}
	return k.Name + ":" + k.Arg
}

// MarshalText returns String.
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (k *Keep) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKeep(string(text))
	return err
}

// String returns the rules in the syntax of ParseKeep.
func (k Keep) String() string {
	var all []string
	for _, r := range k {
		all = append(all, r.String())
	}
	return strings.Join(all, ",")
}

// rankings hold, for each rule of Keep, the values that rank the documents.
type rankings struct {
	rules Keep
	by    []*ranking // one for each rule but largest
}

func newRankings(rules Keep) rankings {
	r := rankings{rules: rules}
	for _, rule := range rules {
		if rule.Name == "none" { // clusters are formed around their first documents
			rule.Name = "first"
		}
		if rule.Name != largest {
			r.by = append(r.by, &ranking{rule: rule, field: docfield.NewField(rule.Arg)})
		}
	}
	return r
}

// add adds the values of the next document.
func (r *rankings) add(rec *records.Record) {
	for _, by := range r.by {
		by.add(rec)
	}
}

// needFields reports whether a rule compares a field.
func (r *rankings) needFields() bool {
	return slices.ContainsFunc(r.rules, func(k Rule) bool { return k.Name == "max" || k.Name == "min" })
}

// decide chooses how values compare, once all are known. It returns an error if a rule
// distinguishes no documents because they all lack its field or pattern.
func (r *rankings) decide() error {
	for _, by := range r.by {
		if err := by.decide(); err != nil {
			return err
		}
	}
	return nil
}

// less reports whether document a is preferred to document b.
func (r *rankings) less(a, b int64) bool {
	for _, by := range r.by {
		if c := by.compare(a, b); c != 0 {
			return c < 0
		}
	}
	return a < b
}

// order returns n documents in order of preference, nil for the order of the input.
func (r *rankings) order(ctx context.Context, n int64) ([]uint32, error) {
	if r.by[0].rule.Name == "first" && r.by[0].written == nil {
		return nil, nil
	}
	order := ordered.Numbers(int(n))
	if r.by[0].rule.Name == "last" && r.by[0].written == nil {
		slices.Reverse(order)
		return order, nil
	}
	return order, ordered.InPlace(ctx, order, func(a, b uint32) int {
		if r.less(int64(a), int64(b)) {
			return -1
		}
		return 1
	})
}

// ruleFor returns the rule that has kept a document. A document without a value is kept only if
// its whole cluster has no values, and then because it comes first.
func (r *rankings) ruleFor(keeper int64) string {
	if len(r.by) == 1 && r.by[0].lacks(keeper) {
		return "first"
	}
	return r.rules.String()
}

// ranking holds the values that rank the documents by one rule.
type ranking struct {
	rule    Rule
	field   docfield.Field   // for max and min
	values  []docfield.Value // by ordinal: the documents' values of field
	written []uint64         // by ordinal, for first and last: when a database's documents were written, else nil
	numbers []uint32         // by ordinal: characters, for longest and shortest; for prefer, 1 if it prefers the document
	missing int64            // number of documents without a value
	strings bool             // some string value is not a number, so all values compare as strings
}

// add adds the value of the next document.
func (r *ranking) add(rec *records.Record) {
	switch r.rule.Name {
	case "first", "last":
		if rec.Seq != 0 {
			r.written = append(r.written, rec.Seq)
		}
		return
	case "longest", "shortest":
		r.numbers = append(r.numbers, uint32(utf8.RuneCountInString(rec.Doc.Text)))
		return
	case "prefer":
		liked := uint32(0)
		if r.rule.likes(rec.File) {
			liked = 1
		}
		r.numbers = append(r.numbers, liked)
		return
	}
	v := r.field.Of(&rec.Doc)
	if v.Kind == docfield.Absent {
		r.missing++
	}
	if v.Kind == docfield.Text && !v.IsNumeral() {
		r.strings = true
	}
	r.values = append(r.values, v)
}

// likes reports whether the pattern of prefer matches the name of a file or its last element.
func (k Rule) likes(file string) bool {
	file = filepath.ToSlash(file)
	whole, _ := path.Match(k.Arg, file)
	last, _ := path.Match(k.Arg, path.Base(file))
	return whole || last
}

// decide chooses how values compare, once all are known. It returns an error if no document has a
// value, or none is preferred.
func (r *ranking) decide() error {
	if len(r.values) > 0 && r.missing == int64(len(r.values)) {
		return unknownField(&r.field, option.Set("Keep", r.rule))
	}
	if r.rule.Name == "prefer" && len(r.numbers) > 0 && !slices.Contains(r.numbers, 1) {
		return fmt.Errorf("%s: no document comes from a file that %q matches", option.Set("Keep", r.rule), r.rule.Arg)
	}
	if r.strings {
		return nil
	}
	for i, v := range r.values {
		if v.Kind == docfield.Text {
			r.values[i] = docfield.Value{Kind: docfield.Number, Number: quantity.ParseDecimal(strings.TrimSpace(v.Text))}
		}
	}
	return nil
}

// lacks reports whether document n has no value.
func (r *ranking) lacks(n int64) bool {
	return len(r.values) > 0 && r.values[n].Kind == docfield.Absent
}

// compare is negative if document a is preferred to document b, 0 if the rule does not
// distinguish them.
func (r *ranking) compare(a, b int64) int {
	sign := 1
	if r.written != nil {
		a, b = int64(r.written[a]), int64(r.written[b])
	}
	switch r.rule.Name {
	case "first":
		return cmp.Compare(a, b)
	case "last":
		return cmp.Compare(b, a)
	case "longest", "prefer":
		return cmp.Compare(r.numbers[b], r.numbers[a])
	case "shortest":
		return cmp.Compare(r.numbers[a], r.numbers[b])
	case "min":
		sign = -1
	}
	x, y := &r.values[a], &r.values[b]
	switch {
	case x.Kind == y.Kind && x.Kind == docfield.Absent:
		return 0
	case y.Kind == docfield.Absent:
		return -1
	case x.Kind == docfield.Absent:
		return 1
	}
	return -sign * x.Compare(y)
}
