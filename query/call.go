package query

import "math"

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
		t, err := x.fingerprintTarget(what)
		return &nearestPredicate{target: t, n: n}, err
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
	if name == "JACCARD" {
		return x.bindJaccard(e, share)
	}
	t, err := x.textTarget(name, e.Args[0])
	if err != nil {
		return nil, err
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
