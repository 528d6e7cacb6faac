package dedup

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
)

// Decisions are a person's decisions about near-duplicates: JSON lines, as the page of `simdb
// review` writes them (docs/formats.md, "Decisions").
//
//	{"a":"X11-copy","b":"X11","decision":"drop","by":"editor-1","at":"2026-12-01T09:30:00Z"}
//
// A decision is about document a, which resembles document b. Who decided and when may be missing;
// other fields are ignored. Of the decisions about a pair that have a time, the latest holds, so
// that files to which several reviewers append, or whose lines are put together, need no order.

// DecisionKind is a kind of decision.
type DecisionKind string

// The decisions about a document that resembles another.
const (
	DecisionKeep  DecisionKind = "keep"  // it stays, though it is a duplicate
	DecisionDrop  DecisionKind = "drop"  // it is a duplicate and is dropped
	DecisionAllow DecisionKind = "allow" // it is not a duplicate: both stay
	DecisionNone  DecisionKind = "none"  // an earlier decision about the pair is withdrawn
)

// Decision is a line of a file.
type Decision struct {
	A    string       `json:"a"`
	B    string       `json:"b"`
	Kind DecisionKind `json:"decision"`
	By   string       `json:"by,omitempty"` // who decided, or ""
	At   time.Time    `json:"at,omitzero"`  // when, or zero

	Line int64 `json:"-"` // line number in the file, from 1
}

// maxLine is the maximum length of a line in bytes; it fits two escaped ids.
const maxLine = 4 << 20

// ReadDecisions reads a file, which may be compressed; "-" is standard input. It returns the
// decisions that hold. If lines are invalid or decisions contradict each other, it returns an error
// that gives the place of each problem, and no decisions. See Problems.Lines for warn.
func ReadDecisions(ctx context.Context, path string, warn func(format string, args ...any)) ([]Decision, error) {
	all, err := ReadDecisionLines(ctx, path, warn)
	if err != nil {
		return nil, err
	}
	all = LatestDecisions(all)
	p := Problems{Path: path}
	contradictions(all, &p)
	return all, p.Err()
}

// ReadDecisionLines reads a file like ReadDecisions, but returns the decisions of all lines, also
// those that contradict others or that others replace.
func ReadDecisionLines(ctx context.Context, path string, warn func(format string, args ...any)) (all []Decision, err error) {
	p := Problems{Path: path, Warn: warn}
	err = p.Lines(ctx, func(line int64, text []byte) error {
		d, err := ParseDecision(text)
		if d.Line = line; err == nil {
			all = append(all, d)
		}
		return err
	})
	return all, cmp.Or(err, p.Err())
}

// LatestDecisions returns the decisions that hold, in order: those without a time, unless a
// decision about the same pair has one, and otherwise the last one by time, or by order if times
// are equal.
func LatestDecisions(all []Decision) (hold []Decision) {
	latest := map[engine.Pair]int{} // by pair, the index of its last decision with a time
	for i := range all {
		d := &all[i]
		if had, ok := latest[d.Pair()]; !d.At.IsZero() && (!ok || !d.At.Before(all[had].At)) {
			latest[d.Pair()] = i
		}
	}
	for i := range all {
		if last, ok := latest[all[i].Pair()]; (!ok || last == i) && all[i].Kind != DecisionNone {
			hold = append(hold, all[i])
		}
	}
	return hold
}

// ParseDecision parses a line, and makes the checks that need no other line.
func ParseDecision(line []byte) (Decision, error) {
	var in struct {
		Decision
		At string `json:"at"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		switch {
		case ok && wrong.Field == "":
			return in.Decision, fmt.Errorf(`%s; a line must be an object with "a", "b" and "decision"`, wrong.Value)
		case ok:
			return in.Decision, fmt.Errorf("%q must be a string", wrong.Field[strings.LastIndex(wrong.Field, ".")+1:])
		}
		return in.Decision, fmt.Errorf("not JSON: %w", err)
	}
	d := in.Decision
	switch {
	case d.A == "" || d.B == "":
		return d, errors.New(`a decision needs the ids of two documents, "a" and "b"`)
	case d.A == d.B:
		return d, fmt.Errorf("%q is paired with itself", d.A)
	case !slices.Contains([]DecisionKind{DecisionKeep, DecisionDrop, DecisionAllow, DecisionNone}, d.Kind):
		return d, fmt.Errorf(`"decision" is %q, not keep, drop, allow or none`, d.Kind)
	}
	if in.At != "" {
		var err error
		if d.At, err = time.Parse(time.RFC3339, in.At); err != nil {
			return d, fmt.Errorf(`"at" is %q, not a time such as 2026-12-01T09:30:00Z`, in.At)
		}
	}
	return d, nil
}

// Pair returns the IDs of the two documents, the lesser one first.
func (d *Decision) Pair() engine.Pair { return engine.Pair{A: min(d.A, d.B), B: max(d.A, d.B)} }

// contradictions finds decisions that conflict: different decisions about a pair, a document that
// is both kept and dropped, and documents that are dropped for each other, so that none stays.
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
	// A document may be dropped for one that is itself dropped, as long as the chain ends at one that stays.
	of := map[string][]string{} // by ID, the documents that are dropped for it
	var ends []string
	for i := range all {
		if d := &all[i]; d.Kind == DecisionDrop {
			of[d.B] = append(of[d.B], d.A)
			if b := about[d.B]; b == nil || b.Kind != DecisionDrop {
				ends = append(ends, d.B)
			}
		}
	}
	stays := map[string]bool{} // a copy of it stays
	for len(ends) > 0 {
		id := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		if !stays[id] {
			stays[id] = true
			ends = append(ends, of[id]...)
		}
	}
	for i := range all {
		if d := &all[i]; d.Kind == DecisionDrop && !stays[d.A] {
			p.Add(d.Line, "%q is dropped for %q, which line %d drops, and none of its copies stays", d.A, d.B, about[d.B].Line)
		}
	}
}

// Problems collects the errors of a file: it reports the first few and counts the rest.
type Problems struct {
	Path string
	Warn func(format string, args ...any) // or nil
	told []error
	more int64
}

// Lines reads the file at Path, which may be compressed; "-" is standard input. It calls each with
// the lines that are not blank, numbered from 1, and adds the errors of each. It leaves out an
// Incomplete last line; Warn says so.
func (p *Problems) Lines(ctx context.Context, each func(line int64, text []byte) error) error {
	r, err := records.OpenContent(ctx, p.Path, records.UTF8)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line, ended := int64(0), true
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, text, err := bufio.ScanLines(data, atEOF)
		ended = n > 0 && data[n-1] == '\n'
		return n, text, err
	})
	for s.Scan() {
		if line++; ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if !ended && Incomplete(s.Bytes()) {
			if p.Warn != nil {
				p.Warn("warning: %s:%d: the last line is incomplete and is ignored", p.name(), line)
			}
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

// Incomplete reports whether a last line without an end is the beginning of a JSON object, as a power
// cut may leave it.
func Incomplete(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r\xef\xbb\xbf") // or a byte order mark
	return len(line) > 0 && line[0] == '{' && !json.Valid(line)
}

// Add adds a problem of a line.
func (p *Problems) Add(line int64, format string, args ...any) {
	const most = 10
	if len(p.told) == most {
		p.more++
		return
	}
	p.told = append(p.told, fmt.Errorf("%s:%d: %s", p.name(), line, fmt.Sprintf(format, args...)))
}

func (p *Problems) name() string { return cmp.Or(strings.TrimPrefix(p.Path, "-"), "stdin") }

// Err returns the problems, nil if there are none.
func (p *Problems) Err() error {
	if p.more > 0 {
		return errors.Join(append(p.told, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.told...)
}
