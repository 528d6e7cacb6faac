package dedup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
)

// keepRules say which document of a cluster is kept: by the first rule, of those that it does not
// distinguish by the second one, and so on. Of equal documents it is always the first.
type keepRules struct{ all []keepRule }

// Choices are what rules begin with.
func (keepRules) Choices() []string {
	return []string{"first", "last", "longest", "shortest", "max:", "min:", "prefer:", "none"}
}

// keepRule is one of them.
type keepRule struct {
	name string // first, last, longest, shortest, max, min or prefer; none; or largest
	arg  string // the field of max and min, the pattern of prefer
}

// largest comes before all rules of --within: the join takes documents by their numbers of
// shingles.
const largest = "largest"

// UnmarshalText parses rules with commas between them.
func (k *keepRules) UnmarshalText(text []byte) error {
	k.all = nil
	for part := range strings.SplitSeq(string(text), ",") {
		r, err := parseRule(part)
		if err != nil {
			return err
		}
		k.all = append(k.all, r)
	}
	if k.none() && len(k.all) > 1 {
		return errors.New("with none no document of a cluster is kept: it is the only rule")
	}
	return nil
}

// none reports whether no document of a cluster is kept.
func (k keepRules) none() bool { return slices.Contains(k.all, keepRule{name: "none"}) }

func parseRule(text string) (keepRule, error) {
	name, arg, _ := strings.Cut(text, ":")
	switch {
	case name == "max" || name == "min":
		if arg == "" {
			return keepRule{}, fmt.Errorf("%q needs the name of a field, such as %s:score", text, name)
		}
	case name == "prefer":
		if _, err := path.Match(arg, ""); arg == "" || err != nil {
			return keepRule{}, fmt.Errorf("%q needs a pattern for names of files, such as prefer:wiki*.jsonl", text)
		}
	case !slices.Contains([]string{"first", "last", "longest", "shortest", "none"}, name) || arg != "":
		return keepRule{}, fmt.Errorf("%q is not one of first, last, longest, shortest, max:FIELD, min:FIELD, prefer:GLOB, none", text)
	}
	return keepRule{name, arg}, nil
}

// String is the rule as it is written.
func (k keepRule) String() string {
	if k.arg == "" {
		return k.name
	}
	return k.name + ":" + k.arg
}

// flag is the flag that the rule is of, as it is written.
func (k keepRule) flag() string {
	if k.name == "max" || k.name == "min" {
		return "--keep " + k.String()
	}
	return "--" + k.name + " " + k.arg
}

// String is the rules as they are written.
func (k keepRules) String() string {
	var all []string
	for _, r := range k.all {
		all = append(all, r.String())
	}
	return strings.Join(all, ",")
}

// A value is what a rule compares: what a document has in the field of the rule.
type value struct {
	kind   valueKind
	number quantity.Decimal
	text   string // of a string
}

// valueKind is the type of a value. Values of a lesser type come before those of a greater one.
type valueKind uint8

const (
	absent  valueKind = iota // also null, arrays and objects; the last by both max and min
	boolean                  // false, true
	number
	text
)

// rankings have the values of all documents by which the rules of --keep compare them.
type rankings struct {
	rules keepRules
	by    []*ranking // of each rule but largest
}

func newRankings(rules keepRules) rankings {
	r := rankings{rules: rules}
	for _, rule := range rules.all {
		if rule.name == "none" { // clusters are formed around their first documents
			rule.name = "first"
		}
		if rule.name != largest {
			r.by = append(r.by, &ranking{rule: rule})
		}
	}
	return r
}

// add adds the values of the next document.
func (r *rankings) add(rec *input.Record) {
	for _, by := range r.by {
		by.add(rec)
	}
}

// needFields reports whether a rule is about a field.
func (r *rankings) needFields() bool {
	return slices.ContainsFunc(r.rules.all, func(k keepRule) bool { return k.name == "max" || k.name == "min" })
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
	if r.by[0].rule.name == "first" && r.by[0].written == nil {
		return nil, nil
	}
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	if r.by[0].rule.name == "last" && r.by[0].written == nil {
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
	rule    keepRule
	values  []value         // by ordinal; of max and min
	written []uint64        // by ordinal, of first and last: when those of a database were written, else nil
	lengths []uint32        // by ordinal, in characters; of longest and shortest
	prefers []bool          // by ordinal; of prefer
	liked   int64           // documents that prefer prefers
	missing int64           // documents without a value
	strings bool            // a string of the field is not a number, so all compare as strings
	fields  map[string]bool // that documents have
}

// maxFields is how many names of fields are remembered for a message.
const maxFields = 1000

// add adds the value of the next document.
func (r *ranking) add(rec *input.Record) {
	switch r.rule.name {
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
	v := r.field(rec)
	if v.kind == absent {
		r.missing++
	}
	if v.kind == text && !numeral.MatchString(v.text) {
		r.strings = true
	}
	r.values = append(r.values, v)
}

// likes reports whether the name of a file, or the last part of it, matches the pattern of prefer.
func (k keepRule) likes(file string) bool {
	file = filepath.ToSlash(file)
	whole, _ := path.Match(k.arg, file)
	last, _ := path.Match(k.arg, path.Base(file))
	return whole || last
}

// field returns what a document has in the field of the rule. The id and the text can be that
// field, too.
func (r *ranking) field(rec *input.Record) value {
	var all map[string]json.RawMessage
	if len(rec.Doc.Fields) > 0 {
		json.Unmarshal(rec.Doc.Fields, &all)
	}
	raw, has := all[r.rule.arg]
	switch {
	case has:
		if v := valueOf(raw); v.kind != absent {
			return v
		}
	case r.rule.arg == "id":
		return value{kind: text, text: rec.Doc.ID}
	case r.rule.arg == "text":
		return value{kind: text, text: rec.Doc.Text}
	}
	if r.fields == nil {
		r.fields = map[string]bool{}
	}
	for name := range all {
		if len(r.fields) < maxFields || name == r.rule.arg {
			r.fields[name] = true
		}
	}
	return value{}
}

// numeral matches strings that are numbers.
var numeral = regexp.MustCompile(`^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$`)

// valueOf returns the value of JSON text.
func valueOf(raw json.RawMessage) value {
	var s string
	switch raw = json.RawMessage(strings.TrimSpace(string(raw))); {
	case len(raw) == 0:
		return value{}
	case raw[0] == '"':
		if json.Unmarshal(raw, &s) != nil {
			return value{}
		}
		return value{kind: text, text: s}
	case raw[0] == 't':
		return value{kind: boolean, number: quantity.ParseDecimal("1")}
	case raw[0] == 'f':
		return value{kind: boolean}
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return value{kind: number, number: quantity.ParseDecimal(string(raw))}
	}
	return value{}
}

// decide decides how values compare, once all are known. It returns an error if no document has a
// value, or is preferred.
func (r *ranking) decide() error {
	if len(r.values) > 0 && r.missing == int64(len(r.values)) {
		return r.unknown()
	}
	if len(r.prefers) > 0 && r.liked == 0 {
		return fmt.Errorf("--keep %v: no document is of a file that %q matches", r.rule, r.rule.arg)
	}
	if r.strings {
		return nil
	}
	for i, v := range r.values {
		if v.kind == text {
			r.values[i] = value{kind: number, number: quantity.ParseDecimal(strings.TrimSpace(v.text))}
		}
	}
	return nil
}

// unknown is the error for a field that no document has, or has a value in.
func (r *ranking) unknown() error {
	names := slices.Sorted(maps.Keys(r.fields))
	if r.fields[r.rule.arg] || len(names) == 0 {
		return fmt.Errorf("%s: no document has a number, a string or a boolean in the field %q", r.rule.flag(), r.rule.arg)
	}
	hint := "the fields are " + strings.Join(names[:min(len(names), 20)], ", ")
	if name, ok := query.Closest(r.rule.arg, names); ok {
		hint = fmt.Sprintf("did you mean %q? %s", name, hint)
	}
	return fmt.Errorf("%s: no document has a field %q; %s", r.rule.flag(), r.rule.arg, hint)
}

// lacks reports whether document n has no value.
func (r *ranking) lacks(n int64) bool { return len(r.values) > 0 && r.values[n].kind == absent }

// compare is negative if document a is preferred to document b, 0 if the rule does not distinguish
// them.
func (r *ranking) compare(a, b int64) int {
	sign := 1
	if r.written != nil {
		x, y := r.written[a], r.written[b]
		a, b = int64(x), int64(y)
	}
	switch r.rule.name {
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
	case x.kind == absent && y.kind == absent:
		return 0
	case y.kind == absent:
		return -1
	case x.kind == absent:
		return 1
	}
	return -sign * x.compare(y)
}

// compare is a total order: by type, then by number, or by the bytes of a string.
func (v *value) compare(w *value) int {
	switch {
	case v.kind != w.kind:
		return cmp.Compare(v.kind, w.kind)
	case v.kind == text:
		return cmp.Compare(v.text, w.text)
	}
	return v.number.Compare(w.number)
}
