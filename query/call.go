package query

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// bindCall resolves NEAR(...) and its like: two arguments each.
func (x *run) bindCall(e *call) (predicate, error) {
	name := e.Name.Value
	if len(e.Args) != 2 {
		at := e.Name.Pos.Offset
		if len(e.Args) > 2 {
			at = e.Args[2].Value.Pos.Offset
		}
		return nil, errorAt(x.p.text, at, "as in "+examples[name], "%s takes 2 arguments, not %d", name, len(e.Args))
	}
	what, measured := e.Args[0], e.Args[1]
	if measured.Text {
		return nil, x.values.wrong(measured.Value, expectNumber)
	}
	switch name {
	case "NEAR":
		k, err := x.values.integer(measured.Value, "k", 0, 64)
		if err != nil {
			return nil, err
		}
		t, err := x.fingerprintTarget(what)
		return &nearPredicate{target: t, k: k}, err
	case "NEAREST":
		n, err := x.values.integer(measured.Value, "the number of documents", 1, math.MaxInt)
		if err != nil {
			return nil, err
		}
		return x.bindNearest(what, n)
	}
	return x.bindTextCall(e)
}

// bindTextCall resolves the calls that compare texts.
func (x *run) bindTextCall(e *call) (predicate, error) {
	name := e.Name.Value
	share, err := x.values.share(e.Args[1].Value)
	if err != nil {
		return nil, err
	}
	t, err := x.textTarget(name, e.Args[0])
	if err != nil {
		return nil, err
	}
	if name == "JACCARD" {
		return x.bindJaccard(e.Name, t, share)
	}
	if err := x.needTexts(e.Name); err != nil {
		return nil, err
	}
	p := &textPredicate{name: name, target: t, threshold: share}
	if name == "LEVENSHTEIN" {
		p.similar = levenshtein(t.doc.Text, share)
	} else {
		p.similar = cosine(t.doc.Text, share)
	}
	return p, nil
}

var examples = map[string]string{
	"NEAR": "NEAR('a', 3)", "NEAREST": "NEAREST('a', 10)", "JACCARD": "JACCARD('a', 0.8)",
	"LEVENSHTEIN": "LEVENSHTEIN('a', 0.9)", "COSINE": "COSINE('a', 0.9)",
}

func (x *run) bindNearest(what *argument, n int) (predicate, error) {
	t, err := x.fingerprintTarget(what)
	if err != nil {
		return nil, err
	}
	ask := n
	if t.self != "" && ask < math.MaxInt {
		ask++ // it finds itself
	}
	return &setPredicate{
		label: fmt.Sprintf("NEAREST(%s, %d)", t.label, n), carries: distanceMeasure, sorted: byDistance, self: t.self, limit: n,
		costs: func(x *run) float64 {
			if !t.hasFingerprint {
				return 0
			}
			return 2 * x.nearCost(t.fingerprint, 8)
		},
		list: func(ctx context.Context) iter.Seq2[engine.Match, error] {
			if !t.hasFingerprint {
				return none(ctx)
			}
			return x.snap.Nearest(ctx, t.fingerprint, ask)
		},
	}, nil
}

// none lists nothing: what a text without words matches.
func none(context.Context) iter.Seq2[engine.Match, error] {
	return func(func(engine.Match, error) bool) {}
}

func (x *run) bindJaccard(word lexer.Token, t target, share float64) (predicate, error) {
	if err := x.needSketches(word); err != nil {
		return nil, err
	}
	if _, words := x.db.Fingerprint(t.doc.Text); !words && t.self == "" {
		return &setPredicate{label: "JACCARD(" + t.label + ")", carries: scoreMeasure, sorted: byScore, costs: func(*run) float64 { return 0 }, list: none, verified: none}, nil
	}
	return &setPredicate{
		label: fmt.Sprintf("JACCARD(%s, %g)", t.label, share), carries: scoreMeasure, sorted: byScore, self: t.self,
		costs: func(x *run) float64 { return 50e3 + x.documents()/10 },
		list:  func(ctx context.Context) iter.Seq2[engine.Match, error] { return x.snap.Jaccard(ctx, t.doc, share) },
		verified: func(ctx context.Context) iter.Seq2[engine.Match, error] {
			return x.snap.JaccardVerified(ctx, t.doc, share)
		},
	}, nil
}

const verifyHint = "it recomputes the scores of JACCARD on the texts"

// needSketches refuses a word that a database without sketches can't carry out.
func (x *run) needSketches(word lexer.Token) error {
	if x.db.Params().Sketch > 0 {
		return nil
	}
	e := errorAt(x.p.text, word.Pos.Offset, "use NEAR", "%s needs a database with sketches, and this one has none", word.Value)
	e.Class, e.Err = ClassParameter, engine.ErrNoSketches
	return e
}

// needTexts refuses a word that a database without texts can't carry out.
func (x *run) needTexts(word lexer.Token) error {
	if x.db.Params().Text {
		return nil
	}
	return errorAt(x.p.text, word.Pos.Offset, "", "%s needs the texts of documents, and this database keeps none", word.Value)
}

// verify makes each JACCARD of a selection recompute its scores on the texts.
func (x *run) verify(sel *selection, word *lexer.Token) error {
	verified := false
	for _, l := range sel.predicates {
		if p, ok := l.predicate.(*setPredicate); ok && p.verified != nil {
			if err := x.needTexts(*word); err != nil {
				return err
			}
			p.list, p.label, verified = p.verified, p.label+" VERIFY", true
		}
	}
	if !verified {
		return errorAt(x.p.text, word.Pos.Offset, verifyHint, "VERIFY needs JACCARD")
	}
	return nil
}
