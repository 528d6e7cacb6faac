package dedup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
)

// Decisions are what a person has decided about near-duplicates: JSON lines, as the page of
// `simdb review` writes them (docs/formats.md, "Decisions").
//
//	{"a":"X11-copy","b":"X11","decision":"drop"}
//
// A decision is about the document a, which is like the document b. Other fields are ignored.

// DecisionKind is what was decided.
type DecisionKind string

// The decisions about a document that is like another one.
const (
	DecisionKeep  DecisionKind = "keep"  // it stays, though it is a duplicate
	DecisionDrop  DecisionKind = "drop"  // it is a duplicate, and goes
	DecisionAllow DecisionKind = "allow" // it is no duplicate: both stay
)

// Decision is a line of a file.
type Decision struct {
	A    string       `json:"a"`
	B    string       `json:"b"`
	Kind DecisionKind `json:"decision"`

	Line int64 `json:"-"` // where it stands, from 1
}

// maxLine is the length of the longest line, in bytes: two ids, escaped.
const maxLine = 4 << 20

// ReadDecisions reads a file, which may be compressed; "-" is standard input. Every line that is
// wrong, and every two that contradict each other, is an error with its place; then there are no
// decisions.
func ReadDecisions(ctx context.Context, path string) ([]Decision, error) {
	r, err := records.OpenContent(ctx, path, records.UTF8)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := Problems{Path: path}
	var all []Decision
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := int64(0)
	for s.Scan() {
		if line++; ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		d, err := parseDecision(s.Bytes())
		if d.Line = line; err != nil {
			p.Add(line, "%v", err)
			continue
		}
		all = append(all, d)
	}
	if err := s.Err(); err != nil {
		p.Add(line+1, "%v", err)
	}
	contradictions(all, &p)
	return all, p.Err()
}

// parseDecision parses a line and checks what can be checked of it alone.
func parseDecision(line []byte) (d Decision, err error) {
	if err := json.Unmarshal(line, &d); err != nil {
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		switch {
		case ok && wrong.Field == "":
			return d, fmt.Errorf(`%s, where a line is an object with "a", "b" and "decision"`, wrong.Value)
		case ok:
			return d, fmt.Errorf("%q is to be a string", wrong.Field)
		}
		return d, fmt.Errorf("not JSON: %w", err)
	}
	switch {
	case d.A == "" || d.B == "":
		return d, errors.New(`a decision has the ids of two documents, "a" and "b"`)
	case d.A == d.B:
		return d, fmt.Errorf("%q is paired with itself", d.A)
	case d.Kind != DecisionKeep && d.Kind != DecisionDrop && d.Kind != DecisionAllow:
		return d, fmt.Errorf(`"decision" is %q, and not keep, drop or allow`, d.Kind)
	}
	return d, nil
}

// Pair returns the two documents, the one with the lesser ID first.
func (d *Decision) Pair() engine.IDPair { return engine.IDPair{A: min(d.A, d.B), B: max(d.A, d.B)} }

// contradictions finds decisions that cannot both hold: different ones about a pair, a document
// that is kept and dropped, and a document that is dropped where others are dropped for it.
func contradictions(all []Decision, p *Problems) {
	pairs, about := map[engine.IDPair]*Decision{}, map[string]*Decision{}
	for i := range all {
		d := &all[i]
		if had := pairs[d.Pair()]; had == nil {
			pairs[d.Pair()] = d
		} else if had.Kind != d.Kind {
			p.Add(d.Line, "%s contradicts %s in line %d, about the same two documents", d.Kind, had.Kind, had.Line)
			continue
		}
		if d.Kind == DecisionAllow {
			continue
		}
		if had := about[d.A]; had == nil {
			about[d.A] = d
		} else if had.Kind != d.Kind {
			p.Add(d.Line, "%s contradicts %s in line %d, about %q", d.Kind, had.Kind, had.Line, d.A)
		}
	}
	for i := range all {
		d := &all[i]
		if of := about[d.B]; d.Kind == DecisionDrop && of != nil && of.Kind == DecisionDrop {
			p.Add(d.Line, "%q is dropped for %q, which line %d drops", d.A, d.B, of.Line)
		}
	}
}

// Problems are what is wrong with a file. The first few are told, the others counted.
type Problems struct {
	Path string
	told []error
	more int64
}

// Add adds what is wrong with a line.
func (p *Problems) Add(line int64, format string, args ...any) {
	const most = 10
	if len(p.told) == most {
		p.more++
		return
	}
	name := cmp.Or(strings.TrimPrefix(p.Path, "-"), "stdin")
	p.told = append(p.told, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
}

// Err returns the problems, nil if there are none.
func (p *Problems) Err() error {
	if p.more > 0 {
		return errors.Join(append(p.told, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.told...)
}
