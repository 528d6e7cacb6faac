package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A PairRule says which two documents, a and b, are near-duplicates. It combines comparisons with AND,
// OR, NOT and parentheses:
//
//	JACCARD >= 0.8                              the texts; also COSINE, LEVENSHTEIN, and NEAR <= 3
//	JACCARD(chars:5, title, author) >= 0.4      fields, and the unit of shingles
//	CONTAINS(tokens) >= 1                       the share of the smaller text that the larger one has
//	a.year = b.year, a.lang != b.lang           values of a field
//	a.year IS NOT DISTINCT FROM b.year          the same, where a missing value equals another one
//	NUMBERS(a) = NUMBERS(b)                     the numbers in the texts, in digits of any script, or DATES
//	MATCHES(a.title, 'v[0-9]+') = MATCHES(b.title, 'v[0-9]+')
//	FILE(a) = FILE(b)                           the files, or FOLDER
//	DIFFERS('draft', 'final')                   one of these words is only in one of the texts
//	DIFFERS('left/right')                       only one text has left, only the other has right
//	DIFFERS(RECURRING)                          they differ in the same words as other pairs
//
// RECURRING is about the pairs that match by the rest of the rule, and about the words that only one of
// the two texts has, or has more often. A difference recurs if three pairs of texts, or more, have the
// same words against the same words, or if each of its words differs in five pairs. Texts with the same words
// count once. Differences of more than 12 words do not recur.
//
// As in SQL, a comparison with a missing value is unknown, and neither it nor its negation holds;
// so is a similarity with a text that has nothing to compare. A text without numbers has an empty set.
//
// Each alternative of a rule needs a similarity or an equality. The score of two documents is the
// least similarity of an alternative, and the greatest of those alternatives that hold; an equality
// counts as 1, and NEAR as the share of equal bits.
type PairRule struct{ rule *pairrule.Rule }

// ParsePairRule reads a rule. An error says where the mistake is.
func ParsePairRule(text string) (*PairRule, error) {
	r := &PairRule{}
	return r, r.UnmarshalText([]byte(text))
}

// UnmarshalText reads a rule, as ParsePairRule does.
func (r *PairRule) UnmarshalText(text []byte) (err error) {
	if r.rule, err = pairrule.Parse(string(text)); err != nil {
		return ruleError{err}
	}
	return nil
}

// A ruleError is an engine.ErrInvalid about a rule.
type ruleError struct{ error }

func (e ruleError) Is(target error) bool { return target == engine.ErrInvalid }
func (e ruleError) Unwrap() error        { return e.error }

// MarshalText returns the rule as it was written.
func (r *PairRule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String returns the rule as it was written.
func (r *PairRule) String() string {
	if r == nil || r.rule == nil {
		return ""
	}
	return r.rule.Text
}

// CheckDistinct returns an error if a text is not an entry of Job.Distinct.
func CheckDistinct(entry string) error {
	if _, err := pairrule.Distinct([]string{entry}); err != nil {
		return valueError("one word, or two as in left/right, not " + strconv.Quote(entry))
	}
	return nil
}

// agreement is the options that limit matches by what documents have: the short forms of rules.
type agreement struct {
	by                  engine.Criterion // without a rule
	rule                *PairRule
	agree, distinct     []string
	across, withinField string
}

// given returns the name of the first option that is set, or "".
func (x *agreement) given() string {
	switch {
	case x.rule != nil:
		return "Rule"
	case x.agree != nil:
		return "Agree"
	case x.distinct != nil:
		return "Distinct"
	case x.across != "":
		return "Across"
	case x.withinField != "":
		return "WithinField"
	}
	return ""
}

// whole returns the rule with its short forms; nil if a criterion decides, with limits.
func (x *agreement) whole() (r, limits *pairrule.Rule, err error) {
	if x.rule == nil && x.agree == nil && x.distinct == nil {
		return nil, x.groups(), nil
	}
	r, err = x.asRule()
	return r, nil, err
}

// asRule returns the rule with its short forms, also for a criterion alone.
func (x *agreement) asRule() (r *pairrule.Rule, err error) {
	switch {
	case x.rule != nil && x.rule.rule == nil:
		return nil, invalid("%s is empty", option.Name("Rule"))
	case x.rule != nil:
		r = x.rule.rule
	default:
		kind, ok := map[string]pairrule.Kind{"near": pairrule.Near, "jaccard": pairrule.Jaccard, "cosine": pairrule.Cosine, "levenshtein": pairrule.Levenshtein}[string(x.by.Kind())]
		if !ok {
			return nil, invalid("%s cannot be used with %s: it belongs to the rule of one similarity", option.Name(optionOf(x.by)), option.Name(cmp.Or(x.given(), "Ignore")))
		}
		r = pairrule.Similarity(kind, x.by.K(), x.by.T())
	}
	if r, err = x.agreeing(r); err == nil {
		r, err = r.And(x.groups())
	}
	return r, err
}

// groups returns the rule of across and withinField, nil if neither is set.
func (x *agreement) groups() *pairrule.Rule {
	field := cmp.Or(x.across, x.withinField)
	if field == "" {
		return nil
	}
	a := pairrule.Atom{Of: pairrule.Value, Distinct: true, Fields: []string{field}}
	switch x.across {
	case "file":
		a = pairrule.Atom{Of: pairrule.File}
	case "folder":
		a = pairrule.Atom{Of: pairrule.Folder}
	}
	return pairrule.Agreement(a, x.across != "")
}

// agreeing adds agree and distinct to a rule.
func (x *agreement) agreeing(r *pairrule.Rule) (_ *pairrule.Rule, err error) {
	for _, what := range x.agree {
		a := pairrule.Atom{Of: pairrule.Matches, Pattern: what}
		switch what {
		case features.MaskNumbers:
			a = pairrule.Atom{Of: pairrule.Numbers}
		case features.MaskDates:
			a = pairrule.Atom{Of: pairrule.Dates}
		}
		if _, err := features.Finder(what); err != nil {
			return nil, invalid("%s: %v", option.Set("Agree", what), err)
		}
		if r, err = r.And(pairrule.Agreement(a, false)); err != nil {
			return nil, err
		}
	}
	if x.distinct != nil {
		if len(x.distinct) == 0 {
			return nil, invalid("%s names no words", option.Name("Distinct"))
		}
		for _, entry := range x.distinct {
			if err := CheckDistinct(entry); err != nil {
				return nil, invalid("%s: %v", option.Name("Distinct"), err)
			}
		}
		words, err := pairrule.Distinct(x.distinct)
		if err != nil {
			return nil, err
		}
		if r, err = r.And(words); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// settle returns the rule with its short forms, or nil if rulejoin.Settle says that a criterion decides:
// then it sets the criterion, and returns the limits of its matches. Joins by a criterion need no memory
// for pairs, and use the indexes of a database.
func (x *agreement) settle() (r, limits *pairrule.Rule, err error) {
	r, limits, err = x.whole()
	if err != nil || r == nil {
		return r, limits, err
	}
	by, limits, ok := rulejoin.Settle(r)
	if !ok {
		return r, nil, nil
	}
	x.by = by
	return nil, limits, nil
}

// fieldsOnly reports whether a rule, which may be nil, compares no texts, so that records need none.
func fieldsOnly(r *pairrule.Rule) bool { return r != nil && !r.ComparesText() }

// refuseFiles returns an error if a rule, which may be nil, compares the files of documents, and
// some are in a database.
func (x *agreement) refuseFiles(rule *pairrule.Rule, of ...*inputs.Sources) error {
	for _, s := range of {
		for i := 0; rule != nil && s != nil && s.Stored != nil && i < len(rule.Atoms); i++ {
			if a := &rule.Atoms[i]; a.OfFile() {
				return fmt.Errorf("%s: %s is a database and does not record the files of documents", x.written(a), s.Stored.Path)
			}
		}
	}
	return nil
}

// written returns how a comparison of files is written: as the option, or in the rule.
func (x *agreement) written(a *pairrule.Atom) string {
	if x.rule == nil {
		return option.Set("Across", x.across)
	}
	return a.String()
}

// limits say which documents may match by a criterion. A nil limits lets all match.
type limits struct {
	*rulejoin.Grouper
	by *agreement
	mu sync.Mutex // both sides of a join are read at the same time
}

// limit returns the limits that settle has found, which may be nil.
func (x *agreement) limit(rule *pairrule.Rule, p features.Params, read records.Options, of ...*inputs.Sources) (*limits, error) {
	if err := x.refuseFiles(rule, of...); rule == nil || err != nil {
		return nil, err
	}
	g, err := rulejoin.NewGrouper(rule, ruleOptions(p, read, 0, 0, ""))
	return &limits{Grouper: g, by: x}, err
}

// group returns the group of a document.
func (l *limits) group(rec *records.Record) collection.Group {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Of(ruled(rec))
}

// check returns an error if no document has a field that the limits name.
func (l *limits) check() error {
	if l == nil {
		return nil
	}
	return l.by.unknown(l.Unknown())
}

// unknown returns the error for a field in which no document has a value; nil for nil.
func (x *agreement) unknown(f *docfield.Field) error {
	if f == nil {
		return nil
	}
	return unknownField(f, x.names(f.Path.String()))
}

// names returns how the option is written that names a field.
func (x *agreement) names(field string) string {
	switch field {
	case x.across:
		return option.Set("Across", field)
	case x.withinField:
		return option.Set("WithinField", field)
	}
	return option.Name("Rule")
}

// unknownField returns the error for a field that an option names, and in which no document has a value.
func unknownField(f *docfield.Field, option string) error {
	names, name := slices.Sorted(maps.Keys(f.Seen)), f.Path.String()
	switch {
	case f.Path.Several():
		return fmt.Errorf("%s: %q leads to several values of a document; name a field that has one", option, name)
	case f.Seen[name] || len(names) == 0:
		return fmt.Errorf("%s: no document has a number, a string or a boolean in the field %q", option, name)
	}
	return fmt.Errorf("%s: no document has a field %q%s", option, name, records.Among("the fields are", names, name))
}

// ruleOptions returns the options of the documents that a rule compares.
func ruleOptions(p features.Params, read records.Options, memory, input int64, dir string) rulejoin.Options {
	return rulejoin.Options{Params: p, TextFields: read.TextFields(), Memory: memory, InputBytes: input, Dir: dir}
}

// ruled returns a record as rules compare it.
func ruled(rec *records.Record) *rulejoin.Doc { return &rulejoin.Doc{Doc: rec.Doc, File: rec.File} }

// finish ends the adding of documents that a rule compares. It returns an error if no document has a
// field that the rule names.
func (x *agreement) finish(c *rulejoin.Corpus) error {
	return cmp.Or(c.Finish(), x.unknown(c.Unknown()))
}

// ruleJoin returns the options of a join by a rule. It says which join lists the pairs of each
// alternative.
func ruleJoin(env *inputs.Env, memory int64) rulejoin.JoinOptions {
	return rulejoin.JoinOptions{
		JoinOptions: corpus.JoinOptions{Memory: memory, Progress: env.Report},
		Plan: func(drivers []rulejoin.Driver) {
			for i := range drivers {
				env.Say("rule: %s", drivers[i].String())
			}
		},
	}
}

// checkRule returns an error for options that do not apply to the rule.
func checkRule(rule *pairrule.Rule, c *inputs.Compared) error {
	if err := checkIgnored(rule, c); err != nil {
		return err
	}
	for _, name := range c.Given() {
		switch name {
		case "Fields", "SetField", "FeaturesField", "Compute", "Weights", "Bits":
			return &OptionError{Option: "Rule", Other: name, Why: "it names what it compares"}
		}
	}
	return nil
}

// checkIgnored returns an error if shingles are not compared, and the rule has none of the same kind.
func checkIgnored(rule *pairrule.Rule, c *inputs.Compared) error {
	if !c.Ignores() {
		return nil
	}
	name, some := "Ignore", false
	if c.Ignore == "" {
		name = "IgnoreCommon"
	}
	for i := range rule.Atoms {
		switch a := &rule.Atoms[i]; {
		case a.Kind != pairrule.Jaccard && a.Kind != pairrule.Contains && a.Kind != pairrule.Near:
		case a.Unit != "":
			return invalid("%s: %s leaves out shingles as %s sets them: leave out the unit", a, option.Name(name), option.Name("Shingle"))
		default:
			some = true
		}
	}
	if !some {
		return invalid("%s leaves out shingles, but the rule compares none", option.Name(name))
	}
	return nil
}

// agreement returns the rule of a Job with its short forms.
func (c *Job) agreement() *agreement {
	by := c.By
	if by.Kind() == "" {
		by = DefaultOf(nil, c.Where.Images)
	}
	return &agreement{by, c.Rule, c.Agree, c.Distinct, c.Across, c.WithinField}
}

// settled returns the job with the criterion that decides and its limits, or its rule.
func (c *Job) settled() (own *Job, rule, limits *pairrule.Rule, err error) {
	x := c.agreement()
	rule, limits, err = x.settle()
	if own = c; rule == nil && (c.Rule != nil || c.Agree != nil || c.Distinct != nil) {
		own = new(*c)
		own.By = x.by
	}
	return own, rule, limits, err
}

// decideRule decides by the rule which documents stay.
func (d *job) decideRule(dir string) (err error) {
	if err := d.weigh(dir); err != nil {
		return err
	}
	o := ruleOptions(d.params, d.opt, d.c.memory(), d.inputBytes(), dir)
	o.Apart = d.decided != nil
	c, err := rulejoin.New(d.ctx, d.rule, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	d.watchDifferences()
	add := func(rec *records.Record) error {
		d.differ.add(rec.Doc.Text)
		return c.Add(ruled(rec))
	}
	if err := cmp.Or(d.readKnown(add), d.readAll(add)); err != nil {
		return err
	}
	if err := d.c.agreement().finish(c); err != nil {
		return err
	}
	if d.decided != nil {
		d.decided.known = uint32(d.known)
	}
	order, err := d.preferred()
	if err != nil {
		return err
	}
	s := rulejoin.StarOptions{Order: order, Known: int(d.known), OnlyKnown: d.c.OnlyAgainst}
	if d.decided != nil {
		s.Accept = d.decided.accept
	}
	if d.out.keeper, d.out.score, err = c.Stars(d.ctx, s, ruleJoin(d.env, d.c.memory())); err != nil {
		return err
	}
	d.countDifferences()
	return d.out.numberClusters(d.ctx)
}

// checkRule returns an error for options that do not apply to a rule, or to limits; both may be nil.
func (j *Listing) checkRule(rule, limits *pairrule.Rule) error {
	if j.Sample > 0 && (rule != nil || limits != nil) {
		return &OptionError{Option: "Sample", Other: "Rule", Why: "it draws documents without their files and fields"}
	}
	if rule == nil {
		return nil
	}
	return checkRule(rule, &j.Compared)
}

// openRule reads the documents that a rule compares.
func (l *Documents) openRule(ctx context.Context, rule *pairrule.Rule) (err error) {
	dir, remove, err := l.env.TempDir(l.job.TempDir)
	if err != nil {
		return err
	}
	l.remove = remove
	if err := l.job.agreement().refuseFiles(rule, l.sources); err != nil {
		remove()
		return err
	}
	l.files = corpus.NewListing(corpus.Options{Memory: l.job.Memory, Dir: dir})
	if l.job.Words {
		l.texts = corpus.NewTextStore(l.job.Memory, dir)
	}
	read, opt := func(ctx context.Context) error { return l.readFiles(ctx, dir) }, l.job.Read
	opt.MakeID = true
	if l.sources.Stored != nil {
		read, opt = func(ctx context.Context) error { return l.readStored(ctx, dir) }, records.Options{Need: records.NeedText}
	}
	p, err := l.compared()
	if err == nil {
		err = l.weigh(ctx, &p, opt, dir)
	}
	if err == nil {
		l.rule, err = rulejoin.New(ctx, rule, ruleOptions(p, l.job.Read, l.job.Memory, cmp.Or(l.sources.ContentBytes(), unknownBytes), dir))
	}
	if err == nil {
		err = cmp.Or(read(ctx), l.job.agreement().finish(l.rule))
	}
	if err != nil {
		return l.Close(err)
	}
	l.Read, l.Listed, l.Repeated = l.files.N, l.files.N, l.files.Repeated
	return nil
}

// compared returns the parameters of what is compared.
func (l *Documents) compared() (p features.Params, err error) {
	if l.sources.Stored != nil {
		return l.sources.Stored.Params()
	}
	p, _, err = paramsOf(l.job.Compared)
	return p, err
}

// ruleOptions returns the options of joins by the rule.
func (l *Documents) ruleOptions() rulejoin.JoinOptions { return ruleJoin(l.env, l.job.Memory) }
