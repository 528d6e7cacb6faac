package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// ReadLabels reads a file of labels, JSON lines that may be compressed; "-" is standard input:
//
//	{"a": "doc-17", "b": "doc-18", "same": true}
//
// The decisions of a page of `simdb review` are labels, too: "drop" and "keep" say that two
// documents are the same, "allow" that they are not; of several decisions about a pair, the latest
// holds. Other fields are ignored. A pair that is labelled twice counts once. An error names the
// lines that are wrong or contradict each other. See dedup.Problems.Lines for warn.
func ReadLabels(ctx context.Context, path string, warn func(format string, args ...any)) ([]Label, error) {
	p := dedup.Problems{Path: path, Warn: warn}
	var all []Label
	var decisions []dedup.Decision
	seen := map[engine.Pair]Label{}
	add := func(l Label) error {
		pair := engine.Pair{A: min(l.A, l.B), B: max(l.A, l.B)}
		had, twice := seen[pair]
		if twice && had.Same != l.Same {
			return fmt.Errorf("the label contradicts that of line %d, about the same two documents", had.Line)
		}
		if !twice {
			seen[pair], all = l, append(all, l)
		}
		return nil
	}
	err := p.Lines(ctx, func(line int64, text []byte) error {
		l, d, err := parseLabel(text)
		if d != nil {
			d.Line = line
			decisions = append(decisions, *d)
		}
		if l.Line = line; d != nil || err != nil {
			return err
		}
		return add(l)
	})
	for _, d := range dedup.LatestDecisions(decisions) {
		if err := add(Label{A: d.A, B: d.B, Same: d.Kind != dedup.DecisionAllow, Line: d.Line}); err != nil {
			p.Add(d.Line, "%v", err)
		}
	}
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// parseLabel parses a line: a label, or a decision.
func parseLabel(text []byte) (l Label, _ *dedup.Decision, err error) {
	var line struct {
		A, B     string
		Same     *bool
		Decision string
	}
	if err := json.Unmarshal(text, &line); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return l, nil, fmt.Errorf(`%s in place of %s; a label is {"a": "doc-17", "b": "doc-18", "same": true}`, wrong.Value, wrong.Type)
		}
		return l, nil, fmt.Errorf("not JSON: %w", err)
	}
	switch {
	case line.A == "" || line.B == "":
		return l, nil, errors.New(`a label needs the ids of two documents, "a" and "b"`)
	case line.A == line.B:
		return l, nil, fmt.Errorf("%q is paired with itself", line.A)
	case line.Same != nil:
		return Label{A: line.A, B: line.B, Same: *line.Same}, nil, nil
	case line.Decision == "":
		return l, nil, errors.New(`a label needs "same", true or false, or a "decision" of simdb review`)
	}
	d, err := dedup.ParseDecision(text)
	return l, &d, err
}
