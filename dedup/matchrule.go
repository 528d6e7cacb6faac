package dedup

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/records/inputs"
)

// agreement returns the rule of the options with its short forms.
func (o *MatchOptions) agreement() *agreement {
	return &agreement{o.By, o.Rule, o.Agree, o.Distinct, o.Across, o.WithinField}
}

// FieldsOnly reports whether only fields of documents are compared, so that records need no text.
func (o *MatchOptions) FieldsOnly() bool {
	rule, _, err := o.agreement().whole()
	return err == nil && fieldsOnly(rule)
}

// settle prepares the rule, if there is one. A rule of one similarity is a criterion.
func (m *Match) settle(ctx context.Context, env *inputs.Env, src *inputs.Sources) error {
	x, of := m.o.agreement(), m.o.Compared
	switch {
	case of.Weights != "":
		return of.NotStored()
	case x.given() == "" && !of.Ignores():
		return nil
	}
	rule, err := x.asRule()
	if err != nil {
		return err
	}
	if err := checkIgnored(rule, &of); err != nil {
		return err
	}
	if by, limits, ok := rulejoin.Settle(rule); ok && limits == nil && !of.Ignores() {
		m.o.By = by
		return nil
	}
	m.o.Read.NoText = fieldsOnly(rule)
	stored, texts := m.db.Options(), []string{"text"}
	if m.o.Loaded {
		texts = m.o.Read.TextFields()
	}
	for i := range rule.Atoms {
		switch a := &rule.Atoms[i]; {
		case a.OfFile() && m.o.Loaded:
			return invalid("%s: match does not compare the files of documents; pairs and join do", x.written(a))
		case a.OfFile():
			return invalid("%s: a database does not record the files of documents", x.written(a))
		case a.Recurs():
			return invalid("%s: lines are decided one by one, but which differences recur is known of all pairs", a)
		case stored.NoText && (a.Kind != pairrule.Near || a.Fields != nil):
			return invalid("%s: the database stores no texts to compare", a)
		}
	}
	spec, err := features.Spec(stored.Features).Canonical()
	p := features.Params{Shingle: stored.Shingle, Features: spec, Words: stored.Bits / 64}
	if err == nil {
		err = m.weigh(ctx, env, src, &p)
	}
	m.o.By = engine.Criterion{}
	m.rule = &rulejoin.Search{
		Rule: rule, Index: stored.Index, Text: m.o.Read.TextFields(), Join: ruleJoin(env, m.o.Memory),
		Options: rulejoin.Options{
			Params: p, TextFields: texts, Memory: m.o.Memory, InputBytes: 4 * matchBytes,
		},
	}
	m.rule.Join.Plan = nil // there is one for each lot
	return err
}

// weigh sets which features are not compared.
func (m *Match) weigh(ctx context.Context, env *inputs.Env, src *inputs.Sources, p *features.Params) error {
	if !m.o.Compared.Ignores() {
		return nil
	}
	if m.db.Options().NoText {
		return m.o.Compared.NotStored()
	}
	dir, remove, err := env.TempDir("")
	if err != nil {
		return err
	}
	defer remove()
	s, err := m.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	w := inputs.Weighing{Inputs: src, Read: m.o.Read, Memory: m.o.Memory, Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		for d, err := range s.Range(ctx, engine.Range{Unordered: true, Load: true}) {
			if err == nil {
				err = count(&d)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return env.Weigh(ctx, m.o.Compared, p, w)
}

// tellUnknown warns of a field that the rule names and that no document has, of the lines and of those
// that they were compared with. Others of the database may have it, so this is no error.
func (m *Match) tellUnknown() {
	if m.rule == nil || m.Read == 0 {
		return
	}
	if f := m.rule.Unknown(); f != nil {
		m.l.env.Say("warning: %v", m.o.agreement().unknown(f))
	}
}

// decideByRule is decide by a rule.
func (m *Match) decideByRule(ctx context.Context, s *engine.Snapshot, b *lookupLot) ([]engine.Novelty, error) {
	best, err := m.rule.Best(ctx, s, b.docs, func(i int, id string) bool { return slices.Contains(m.allowed[b.docs[i].ID], id) })
	if err != nil {
		return nil, err
	}
	done := make([]engine.Novelty, len(b.items))
	for i := range done {
		done[i].Stored = true
	}
	for i, f := range best {
		if f.ID != "" {
			done[b.at[i]] = engine.Novelty{Match: engine.Match{ID: f.ID, Score: f.Score, Exact: true}}
		}
	}
	return done, nil
}

// addByRule is engine.Writer.AddNovel by the rule.
func (m *Match) addByRule(ctx context.Context, docs []engine.Doc, _ engine.Criterion, _ *engine.SearchOptions) ([]engine.Novelty, error) {
	return m.rule.AddNovel(ctx, m.db, docs)
}
