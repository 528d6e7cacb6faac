package query

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// A matching says which two documents match: those of a criterion, or of a rule of pairs.
type matching struct {
	by   engine.Criterion
	rule *pairrule.Rule // or nil
}

// measure returns the criterion for the columns of rows. A rule has scores, but if NEAR is its only
// similarity, distances.
func (m *matching) measure() engine.Criterion {
	if m.rule == nil {
		return m.by
	}
	var near *pairrule.Atom
	for i := range m.rule.Atoms {
		if a := &m.rule.Atoms[i]; a.Kind == pairrule.Near && near == nil && len(m.rule.Branches) == 1 {
			near = a
		} else if a.Kind != pairrule.Equal && a.Kind != pairrule.Differ {
			return engine.Criterion{}
		}
	}
	if near == nil {
		return engine.Criterion{}
	}
	return engine.Near(near.K)
}

// match returns a match by a rule, given its score.
func (m *matching) match(x *run, id string, score float64) engine.Match {
	if m.measure().Kind() == "near" {
		return engine.Match{ID: id, Distance: int(math.Round((1 - score) * float64(x.DB.Options().Bits)))}
	}
	return engine.Match{ID: id, Score: score, Exact: true}
}

// bindMatching resolves what follows PAIRS, CLUSTERS and UNLESS. estimate is the word ESTIMATE, or nil.
func (x *run) bindMatching(m *syntax.Matching, estimate *syntax.Token) (by matching, err error) {
	c := m.Criterion
	if c == nil {
		if by.rule, c, err = x.bindRule(m.Rule); err == nil && estimate != nil && c == nil {
			err = syntax.Errorf(estimate.Pos.Offset, "a rule compares texts", "ESTIMATE needs a single JACCARD, as in JACCARD 0.8 ESTIMATE")
		}
	}
	if c != nil && err == nil {
		by.rule = nil
		by.by, err = predicate.BindCriterion(x.Scope, c, estimate)
	}
	return by, err
}

// bindRule parses a rule. If it is one similarity of the texts, bindRule also returns the criterion.
func (x *run) bindRule(parts []*syntax.RulePart) (*pairrule.Rule, *syntax.Criterion, error) {
	text, starts := "", make([]int, len(parts))
	for i, p := range parts {
		starts[i] = len(text)
		part, err := x.rulePart(p.Token, len(parts) == 1)
		if err != nil {
			return nil, nil, err
		}
		text += part
	}
	place := func(offset int) (at, within int) {
		i := len(starts) - 1
		for starts[i] > offset {
			i--
		}
		if parts[i].Token.Type == syntax.RuleText {
			within = offset - starts[i]
		}
		return parts[i].Token.Pos.Offset, within
	}
	rule, err := pairrule.Parse(text)
	if err != nil {
		return nil, nil, syntax.RuleError(err, place)
	}
	for i := range rule.Atoms {
		a := &rule.Atoms[i]
		at, within := place(a.Offset)
		word := syntax.Token{Value: a.String()}
		word.Pos.Offset = at
		switch {
		case a.OfFile():
			err = syntax.Errorf(at, "", "%s: a database does not record the files of documents", a)
		case a.Kind == pairrule.Near && a.K > x.DB.Options().Bits:
			err = x.Values.Errorf(at, "", "%s: a fingerprint has %d bits", a, x.DB.Options().Bits)
		case a.Kind != pairrule.Near || a.Fields != nil:
			err = x.NeedTexts(word)
		}
		if e, ok := err.(*syntax.Error); ok {
			e.Within = within
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if a := rule.Alone(); a != nil && a.Kind != pairrule.Contains { // in a rule, either document may contain the other
		word, number, _ := strings.Cut(a.String(), " ")
		at, _ := place(a.Offset)
		c := &syntax.Criterion{Word: syntax.Token{Value: word}, Value: syntax.Token{Type: syntax.Number, Value: strings.Fields(number)[1]}}
		c.Word.Pos.Offset, c.Value.Pos.Offset = at, at
		return rule, c, nil
	}
	return rule, nil, nil
}

// rulePart returns the text of a part of a rule. A parameter may be the whole rule.
func (x *run) rulePart(t syntax.Token, whole bool) (string, error) {
	if t.Type == syntax.RuleText {
		return x.Values.Written(t).Value, nil
	}
	v, err := x.Values.Get(t)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		if whole {
			return v, nil
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'", nil
	case value.Number:
		return string(v), nil
	case value.Percent:
		return string(v) + "%", nil
	}
	return "", x.Values.Errorf(t.Pos.Offset, "", "a parameter of a rule is a number or a string, not %T", v)
}

// compared holds the documents that a rule compares.
type compared struct {
	*rulejoin.Corpus // nil if a criterion decides
	x                *run
	n                uint32           // documents
	by               corpus.Criterion // that decides, with limits
	limits           *rulejoin.Grouper
	sets             *corpus.Extractor
	ids              *corpus.Listing // with the sets for a criterion
	join             rulejoin.JoinOptions
	allowed          map[[2]uint32]bool // pairs of documents that are no duplicates; the lesser number is first
}

// open prepares the comparison by a rule. If rulejoin.Settle says so, a criterion decides: then pairs
// need memory only in the order of rows.
func (c *compared) open(rule *pairrule.Rule, o rulejoin.Options) (err error) {
	by, limits, settled := rulejoin.Settle(rule)
	if !settled || limits == nil || o.Apart {
		c.ids = corpus.NewListing(corpus.Options{Memory: o.Memory})
		c.Corpus, err = rulejoin.New(c.x.Ctx, rule, o)
		return err
	}
	if c.by, err = corpus.CriterionOf(by); err == nil {
		c.limits, err = rulejoin.NewGrouper(limits, o)
	}
	if err != nil {
		return err
	}
	c.ids = corpus.NewListing(corpus.Options{Sets: true, Measure: c.by.Measure, Memory: o.Memory, InputBytes: o.InputBytes})
	c.ids.Groups = c.limits.Groups()
	c.sets = corpus.NewExtractor(c.x.Ctx, o.Params, c.ids.Corpus)
	return nil
}

// add adds a document.
func (c *compared) add(d engine.Doc) error {
	c.n++
	if err := c.ids.AddID(d.ID); err != nil {
		return err
	}
	if c.limits == nil {
		return c.Corpus.Add(&rulejoin.Doc{Doc: d})
	}
	c.ids.Groups.Of = append(c.ids.Groups.Of, c.limits.Of(&rulejoin.Doc{Doc: d}))
	return c.sets.Add(&engine.Doc{Text: d.Text}, c.ids.Groups)
}

// finish ends the adding.
func (c *compared) finish() (err error) {
	if c.limits != nil {
		err = c.sets.Finish()
	} else {
		c.ids.N = int64(c.n)
		err = c.Corpus.Finish()
	}
	return cmp.Or(err, c.ids.Rank(c.x.Ctx))
}

// compare reads all documents. Documents that were written first are preferred. With apart, the
// clusters respect allowed pairs.
func (x *run) compare(rule *pairrule.Rule, apart bool) (c *compared, err error) {
	c = &compared{x: x}
	number := map[string]uint32{} // of documents in allowed pairs
	for p := range x.Snap.Allowed() {
		if apart {
			number[p.A], number[p.B] = 0, 0
		}
	}
	o, err := x.ruleOptions()
	if err != nil {
		return nil, err
	}
	o.Apart = len(number) > 0
	c.join = x.ruleJoin()
	if err = c.open(rule, o); err != nil {
		return nil, err
	}
	var written []uint64
	fields, counting := x.ruleFields(rule), x.Counting("read")
	for d, err := range x.Snap.Range(x.Ctx, engine.Range{Unordered: true, Load: !x.DB.Options().NoText}) {
		if err == nil {
			for _, f := range fields {
				f.Of(d.Fields)
			}
			if _, ok := number[d.ID]; ok {
				number[d.ID] = c.n + 1
			}
			written = append(written, d.Seq)
			err = c.add(d)
		}
		if err != nil {
			return nil, cmp.Or(err, c.close())
		}
		counting()
	}
	for p := range x.Snap.Allowed() {
		if a, b := number[p.A], number[p.B]; a > 0 && b > 0 {
			if c.allowed == nil {
				c.allowed = map[[2]uint32]bool{}
			}
			c.allowed[[2]uint32{min(a, b) - 1, max(a, b) - 1}] = true
		}
	}
	c.ids.Order = ordered.Numbers(int(c.n))
	slices.SortFunc(c.ids.Order, func(a, b uint32) int { return cmp.Compare(written[a], written[b]) })
	if err := c.finish(); err != nil {
		return nil, cmp.Or(err, c.close())
	}
	return c, nil
}

// documentBytes is the assumed size of a document.
const documentBytes = 1 << 10

// ruleOptions returns the options for the documents of the database.
func (x *run) ruleOptions() (rulejoin.Options, error) {
	p := x.DB.Options()
	of, err := features.Spec(p.Features).Canonical()
	return rulejoin.Options{
		Params: features.Params{Shingle: p.Shingle, Features: of, Words: p.Bits / 64}, TextFields: []string{"text"},
		Memory: x.DB.Metrics().Memory, InputBytes: int64(x.Documents()) * documentBytes,
	}, err
}

// ruleJoin returns the options of joins.
func (x *run) ruleJoin() (o rulejoin.JoinOptions) {
	o.Memory, o.Progress = x.DB.Metrics().Memory, func(p engine.Progress) {
		if x.Report != nil {
			x.Report(p)
		}
	}
	return o
}

// ruleFields returns the fields that a rule names, so that the statement warns about those that no
// document has.
func (x *run) ruleFields(rule *pairrule.Rule) (all []*predicate.NamedField) {
	for _, name := range rule.Fields() {
		if path := syntax.Path(syntax.Token{Value: name}); name != "text" && name != "id" {
			all = append(all, x.Field(name, path))
		}
	}
	return all
}

func (c *compared) close() error {
	if c.limits != nil {
		c.sets.Stop()
		return c.ids.Close()
	}
	return cmp.Or(c.Corpus.Close(), c.ids.Close())
}

// comparing yields what each passes to yield, for the documents that a rule compares.
func comparing[T any](x *run, rule *pairrule.Rule, apart bool, each func(c *compared, yield func(T) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		going, c, err := true, (*compared)(nil), error(nil)
		if c, err = x.compare(rule, apart); err == nil {
			err = each(c, func(v T) bool {
				going = yield(v, nil)
				return going
			})
			err = cmp.Or(err, c.close())
		}
		if err != nil && going {
			var none T
			yield(none, err)
		}
	}
}

// rulePairs yields the pairs that match by a rule, in the order of engine.Reader.Pairs.
func (x *run) rulePairs(by *matching) iter.Seq2[engine.Pair, error] {
	return comparing(x, by.rule, false, func(c *compared, yield func(engine.Pair) bool) error {
		pairs := c.ids.Arrange(x.Ctx, false, c.join.Memory/4, func(emit func(a, b uint32, score float64) bool) error {
			return c.Pairs(x.Ctx, c.join, emit)
		})
		if c.limits != nil {
			pairs = c.ids.Pairs(x.Ctx, c.by, false, c.join.JoinOptions)
		}
		for p, err := range pairs {
			a, e := c.ids.ID(p.A)
			b, f := c.ids.ID(p.B)
			if err = cmp.Or(err, e, f); err != nil {
				return err
			}
			if !yield(engine.Pair{A: a, B: b, Match: by.match(x, b, p.Match)}) {
				return nil
			}
		}
		return nil
	})
}

// ruleMembers yields the members of the clusters by a rule, which are stars, or of the cluster of one
// document, if of is its ID.
func (x *run) ruleMembers(by *matching, of string) iter.Seq2[engine.Member, error] {
	return comparing(x, by.rule, true, func(c *compared, yield func(engine.Member) bool) error {
		found, err := c.clusters()
		if err != nil {
			return err
		}
		only := 0
		each := func(visit func(m engine.Member) bool) error {
			for m, err := range found.All(x.Ctx) {
				id, e := c.ids.ID(m.N)
				if err = cmp.Or(err, e); err != nil {
					return err
				}
				if !visit(engine.Member{Cluster: m.Cluster, Keep: m.Keep, Match: by.match(x, id, m.Match)}) {
					return nil
				}
			}
			return nil
		}
		if of != "" {
			err := each(func(m engine.Member) bool {
				if m.ID == of {
					only = m.Cluster
				}
				return only == 0
			})
			if err != nil || only == 0 {
				return err
			}
		}
		return each(func(m engine.Member) bool {
			if only == 0 {
				return yield(m)
			}
			if m.Cluster != only {
				return m.Cluster < only
			}
			m.Cluster = 1
			return yield(m)
		})
	})
}

// count counts the pairs.
func (c *compared) count() (int64, error) {
	if c.limits != nil {
		return c.ids.CountPairs(c.x.Ctx, c.by, c.join.JoinOptions)
	}
	return c.Count(c.x.Ctx, c.join)
}

// clusters forms the clusters of all documents.
func (c *compared) clusters() (*corpus.Clusters, error) {
	if c.limits != nil {
		return c.ids.Clusters(c.x.Ctx, c.by, false, c.join.JoinOptions)
	}
	s := rulejoin.StarOptions{Order: c.ids.Order}
	if c.allowed != nil {
		s.Accept = func(a, b uint32) bool { return !c.allowed[[2]uint32{min(a, b), max(a, b)}] }
	}
	keeper, scores, err := c.Stars(c.x.Ctx, s, c.join)
	if err != nil {
		return nil, err
	}
	return c.ids.Collect(c.x.Ctx, keeper, scores)
}

// countRule counts the pairs, or the clusters, by a rule.
func (x *run) countRule(rule *pairrule.Rule, clusters bool) (n int64, err error) {
	c, err := x.compare(rule, clusters)
	if err != nil {
		return 0, err
	}
	if !clusters {
		n, err = c.count()
		return n, cmp.Or(err, c.close())
	}
	found, err := c.clusters()
	if err == nil {
		n = int64(found.Len())
	}
	return n, cmp.Or(err, c.close())
}

// explainMatching explains PAIRS and CLUSTERS: what lists the pairs of each alternative of a rule, and
// what is tested on them.
func (x *run) explainMatching(s *syntax.Statement, m *syntax.Matching, clauses []*syntax.Clause) error {
	by, err := x.bindMatching(m, estimateClause(clauses))
	if err != nil {
		return err
	}
	if s.Explain.Analyze {
		return syntax.Errorf(s.Explain.Word.Pos.Offset, "EXPLAIN PAIRS shows the plan, .timer on the time", "EXPLAIN ANALYZE needs a query")
	}
	if by.rule == nil {
		x.answer([]string{"plan"}, fixed(Row{"join by " + by.by.String()}))
		return nil
	}
	x.answer([]string{"plan"}, comparing(x, by.rule, s.Clusters != nil, func(c *compared, yield func(Row) bool) error {
		if c.limits != nil {
			by, limits, _ := rulejoin.Settle(by.rule)
			var all []string
			for _, l := range limits.Branches[0] {
				all = append(all, limits.Literal(l))
			}
			yield(Row{"join by " + by.String() + ", only of documents with " + strings.Join(all, " AND ")})
			return nil
		}
		drivers, err := c.Plan()
		if err != nil {
			return err
		}
		for i := range drivers {
			line := drivers[i].String()
			if tests := drivers[i].Tests(by.rule); tests != "" {
				line += "; tests: " + tests
			}
			if !yield(Row{line}) {
				return nil
			}
		}
		return nil
	}))
	return nil
}
