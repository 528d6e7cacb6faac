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

// settle prepares the rule, if there is one. A rule of one similarity is a criterion.
func (m *Match) settle(env *inputs.Env) error {
	if m.o.Rule == nil {
		return nil
	}
	x := &agreement{rule: m.o.Rule}
	rule, _, err := x.whole()
	if err != nil {
		return err
	}
	if by, limits, ok := rulejoin.Settle(rule); ok && limits == nil {
		m.o.By = by
		return nil
	}
	stored := m.db.Options()
	for i := range rule.Atoms {
		switch a := &rule.Atoms[i]; {
		case a.Kind == pairrule.Equal && (a.Of == pairrule.File || a.Of == pairrule.Folder):
			return invalid("%s: a database does not record the files of documents", a)
		case stored.NoText && (a.Kind != pairrule.Near || a.Fields != nil):
			return invalid("%s: the database stores no texts to compare", a)
		}
	}
	spec, err := features.Spec(stored.Features).Canonical()
	m.rule = &rulejoin.Search{
		Rule: rule, Index: stored.Index, Text: m.o.Read.TextFields(), Join: ruleJoin(env, m.o.Memory),
		Options: rulejoin.Options{
			Params:     features.Params{Shingle: stored.Shingle, Features: spec, Words: stored.Bits / 64},
			TextFields: []string{"text"}, Memory: m.o.Memory, InputBytes: 4 * matchBytes,
		},
	}
	m.rule.Join.Plan = nil // there is one for each lot
	return err
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
