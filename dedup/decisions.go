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

// Decisions are a person's decisions about near-duplicates: JSON lines, as the page of `simdb
// review` writes them (docs/formats.md, "Decisions").
//
//	{"a":"X11-copy","b":"X11","decision":"drop"}
//
// A decision is about document a, which resembles document b. Other fields are ignored.

// DecisionKind is a kind of decision.
type DecisionKind string

// The decisions about a document that resembles another.
const (
	DecisionKeep  DecisionKind = "keep"  // it stays, though it is a duplicate
	DecisionDrop  DecisionKind = "drop"  // it is a duplicate and is dropped
	DecisionAllow DecisionKind = "allow" // it is not a duplicate: both stay
)

// Decision is a line of a file.
type Decision struct {
	A    string       `json:"a"`
	B    string       `json:"b"`
	Kind DecisionKind `json:"decision"`

	Line int64 `json:"-"` // line number in the file, from 1
}

// maxLine is the maximum length of a line in bytes; it fits two escaped ids.
const maxLine = 4 << 20

// ReadDecisions reads a file, which may be compressed; "-" is standard input. If lines are
// invalid or decisions contradict each other, it returns an error that gives the place of each
// problem, and no decisions.
func ReadDecisions(ctx context.Context, path string) ([]Decision, error) {
	p := Problems{Path: path}
	var all []Decision
	err := p.Lines(ctx, func(line int64, text []byte) error {
		d, err := parseDecision(text)
		if d.Line = line; err == nil {
			all = append(all, d)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	contradictions(all, &p)
	return all, p.Err()
}

// parseDecision parses a line and makes the checks that need no other line.
func parseDecision(line []byte) (d Decision, err error) {
	if err := json.Unmarshal(line, &d); err != nil {
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		switch {
		case ok && wrong.Field == "":
			return d, fmt.Errorf(`%s; a line must be an object with "a", "b" and "decision"`, wrong.Value)
		case ok:
			return d, fmt.Errorf("%q must be a string", wrong.Field)
		}
		return d, fmt.Errorf("not JSON: %w", err)
	}
	switch {
	case d.A == "" || d.B == "":
		return d, errors.New(`a decision needs the ids of two documents, "a" and "b"`)
	case d.A == d.B:
		return d, fmt.Errorf("%q is paired with itself", d.A)
	case d.Kind != DecisionKeep && d.Kind != DecisionDrop && d.Kind != DecisionAllow:
		return d, fmt.Errorf(`"decision" is %q, not keep, drop or allow`, d.Kind)
	}
	return d, nil
}

// Pair returns the IDs of the two documents, the lesser one first.
func (d *Decision) Pair() engine.Pair { return engine.Pair{A: min(d.A, d.B), B: max(d.A, d.B)} }

// contradictions finds decisions that conflict: different decisions about a pair, a document that
// is both kept and dropped, and a document that is dropped although others are dropped for it.
func contradictions(all []Decision, p *Problems) {
	pairs, about := map[engine.Pair]*Decision{}, map[string]*Decision{}
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

// Problems collects the errors of a file: it reports the first few and counts the rest.
type Problems struct {
	Path string
	told []error
	more int64
}

// Lines reads the file at Path, which may be compressed; "-" is standard input. It calls each with
// the lines that are not blank, numbered from 1, and adds the errors of each.
func (p *Problems) Lines(ctx context.Context, each func(line int64, text []byte) error) error {
	r, err := records.OpenContent(ctx, p.Path, records.UTF8)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := int64(0)
	for s.Scan() {
		if line++; ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if err := each(line, s.Bytes()); err != nil {
			p.Add(line, "%v", err)
		}
	}
	if err := s.Err(); err != nil {
		p.Add(line+1, "%v", err)
	}
	return nil
}

// Add adds a problem of a line.
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
