package query

import (
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/rulejoin"
)

// putNovel stores a document unless another one matches it by a rule, as engine.Writer.PutNovel does
// by a criterion.
func (x *run) putNovel(doc engine.Doc, by *matching) (m engine.Match, stored bool, err error) {
	o, err := x.ruleOptions()
	if err != nil {
		return m, false, err
	}
	s, docs := rulejoin.Search{Rule: by.rule, Options: o, Index: x.DB.Options().Index, Join: x.ruleJoin(), Text: o.TextFields}, []engine.Doc{doc}
	var done []engine.Novelty
	if x.tx != nil {
		done, err = s.AddTo(x.Ctx, x.DB, x.tx.Tx, docs)
	} else {
		done, err = s.AddNovel(x.Ctx, x.DB, docs)
	}
	switch {
	case err != nil:
		return m, false, err
	case done[0].Expired:
		return m, false, engine.ErrExpired
	case done[0].Stored:
		return m, true, nil
	}
	return by.match(x, done[0].Match.ID, done[0].Match.Score), false, nil
}
