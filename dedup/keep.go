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

	"github.com/simdb/simdb/dedup/internal/grouping"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// Keep says which document of a cluster is kept: by the first rule, of those that it does not
// distinguish by the second one, and so on. Of equal documents it is always the first.
type Keep []Rule

// Rule is a rule of Keep.
type Rule struct {
	Name string // first, last, longest, shortest, max, min or prefer; none; or largest
	Arg  string // the field of max and min, the pattern of prefer
}

// The rules that need no more than their names. With None all documents of a cluster are dropped;
// it is the only rule.
var (
	First    = Rule{Name: "first"}
	Last     = Rule{Name: "last"}
	Longest  = Rule{Name: "longest"}
	Shortest = Rule{Name: "shortest"}
	None     = Rule{Name: "none"}
)

// Max prefers documents with the greatest value of a field. Values compare as numbers if all of
// them are numbers, otherwise byte by byte. Documents without the field come last.
func Max(field string) Rule { return Rule{"max", field} }

// Min is Max for the least value.
func Min(field string) Rule { return Rule{"min", field} }

// Prefer prefers documents of files whose names match a pattern of package path.
func Prefer(pattern string) Rule { return Rule{"prefer", pattern} }

// ParseKeep parses rules with commas between them: first, last, longest, shortest, max:FIELD,
// min:FIELD, prefer:GLOB, or none alone.
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

// check returns an error if rules do not go together.
func (k Keep) check() error {
	if k.none() && len(k) > 1 {
		return invalid("none keeps no document of a cluster, so it must be the only rule")
	}
	return nil
}

// largest comes before all rules of Within: the join takes documents by their numbers of
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

// String is the rule as it is written.
func (k Rule) String() string {
	if k.Arg == "" {
		return k.Name
	}
	return k.Name + ":" + k.Arg
}

// MarshalText is String.
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseKeep.
func (k *Keep) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKeep(string(text))
	return err
}

// String is the rules as they are written.
func (k Keep) String() string {
	var all []string
	for _, r := range k {
		all = append(all, r.String())
	}
	return strings.Join(all, ",")
}

// rankings have the values of all documents by which the rules of Keep compare them.
type rankings struct {
	rules Keep
	by    []*ranking // of each rule but largest
}

func newRankings(rules Keep) rankings {
	r := rankings{rules: rules}
	for _, rule := range rules {
		if rule.Name == "none" { // clusters are formed around their first documents
			rule.Name = "first"
		}
		if rule.Name != largest {
			r.by = append(r.by, &ranking{rule: rule, field: grouping.Field{Name: rule.Arg, Flag: option.Set("Keep", rule)}})
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

// needFields reports whether a rule is about a field.
func (r *rankings) needFields() bool {
	return slices.ContainsFunc(r.rules, func(k Rule) bool { return k.Name == "max" || k.Name == "min" })
}

// decide decides how values compare, once all are known. It returns an error if a rule
// distinguishes no documents since they lack what it is about.
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
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
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

// ruleFor returns the rule by which a document is kept. A document without a value is kept only if
// its whole cluster has none, and then because it is the first.
func (r *rankings) ruleFor(keeper int64) string {
	if len(r.by) == 1 && r.by[0].lacks(keeper) {
		return "first"
	}
	return r.rules.String()
}

// ranking has the values of all documents by which one rule compares them.
type ranking struct {
	rule    Rule
	field   grouping.Field   // of max and min
	values  []grouping.Value // what documents have in it, by ordinal
	written []uint64         // by ordinal, of first and last: when those of a database were written, else nil
	lengths []uint32         // by ordinal, in characters; of longest and shortest
	prefers []bool           // by ordinal; of prefer
	liked   int64            // documents that prefer prefers
	missing int64            // documents without a value
	strings bool             // a string of the field is not a number, so all compare as strings
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
		r.lengths = append(r.lengths, uint32(utf8.RuneCountInString(rec.Doc.Text)))
		return
	case "prefer":
		r.prefers = append(r.prefers, r.rule.likes(rec.File))
		if r.prefers[len(r.prefers)-1] {
			r.liked++
		}
		return
	}
	v := r.field.Of(rec)
	if v.Kind == grouping.Absent {
		r.missing++
	}
	if v.Kind == grouping.Text && !v.IsNumeral() {
		r.strings = true
	}
	r.values = append(r.values, v)
}

// likes reports whether the name of a file, or the last part of it, matches the pattern of prefer.
func (k Rule) likes(file string) bool {
	file = filepath.ToSlash(file)
	whole, _ := path.Match(k.Arg, file)
	last, _ := path.Match(k.Arg, path.Base(file))
	return whole || last
}

// decide decides how values compare, once all are known. It returns an error if no document has a
// value, or is preferred.
func (r *ranking) decide() error {
	if len(r.values) > 0 && r.missing == int64(len(r.values)) {
		return r.field.Unknown()
	}
	if len(r.prefers) > 0 && r.liked == 0 {
		return fmt.Errorf("%s: no document is of a file that %q matches", option.Set("Keep", r.rule), r.rule.Arg)
	}
	if r.strings {
		return nil
	}
	for i, v := range r.values {
		if v.Kind == grouping.Text {
			r.values[i] = grouping.Value{Kind: grouping.Number, Number: quantity.ParseDecimal(strings.TrimSpace(v.Text))}
		}
	}
	return nil
}

// lacks reports whether document n has no value.
func (r *ranking) lacks(n int64) bool {
	return len(r.values) > 0 && r.values[n].Kind == grouping.Absent
}

// compare is negative if document a is preferred to document b, 0 if the rule does not distinguish
// them.
func (r *ranking) compare(a, b int64) int {
	sign := 1
	if r.written != nil {
		x, y := r.written[a], r.written[b]
		a, b = int64(x), int64(y)
	}
	switch r.rule.Name {
	case "first":
		return cmp.Compare(a, b)
	case "last":
		return cmp.Compare(b, a)
	case "prefer":
		switch {
		case r.prefers[a] == r.prefers[b]:
			return 0
		case r.prefers[a]:
			return -1
		}
		return 1
	case "longest":
		return cmp.Compare(r.lengths[b], r.lengths[a])
	case "shortest":
		return cmp.Compare(r.lengths[a], r.lengths[b])
	case "min":
		sign = -1
	}
	x, y := &r.values[a], &r.values[b]
	switch {
	case x.Kind == grouping.Absent && y.Kind == grouping.Absent:
		return 0
	case y.Kind == grouping.Absent:
		return -1
	case x.Kind == grouping.Absent:
		return 1
	}
	return -sign * x.Compare(y)
}
