package review

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// history has the decisions of a file, by pair: the last one of each reviewer, the latest one last.
type history map[engine.Pair][]dedup.Decision

// readHistory reads the file of decisions. If it need not exist, a missing file has none.
func (c *Command) readHistory(j *job) error {
	j.said = history{}
	path := c.decisionsPath()
	if path == "" {
		return nil
	}
	all, err := dedup.ReadDecisionLines(j.a.Context(), path, j.a.Env().Say)
	if err != nil && (c.Output != "" || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	slices.SortStableFunc(all, func(a, b dedup.Decision) int { return a.At.Compare(b.At) })
	for _, d := range all {
		said := slices.DeleteFunc(j.said[d.Pair()], func(had dedup.Decision) bool { return had.By == d.By })
		j.said[d.Pair()] = append(said, d)
	}
	return nil
}

// decisionsPath returns the path of the file of decisions, or "" for none.
func (c *Command) decisionsPath() string {
	if c.Output != "" {
		return c.Decisions
	}
	name := strings.TrimRight(c.Data, `/\`)
	for _, ending := range []string{".gz", ".zst", ".jsonl", ".csv"} {
		name = strings.TrimSuffix(name, ending)
	}
	return cmp.Or(c.Decisions, name+".decisions.jsonl")
}

// decision returns the decision that holds about two documents, DecisionNone if there is none.
func (h history) decision(a, b string) dedup.DecisionKind {
	said := h[engine.Pair{A: min(a, b), B: max(a, b)}]
	if len(said) == 0 {
		return dedup.DecisionNone
	}
	return said[len(said)-1].Kind
}

// attach sets what was decided about the pairs of the page.
func (h history) attach(clusters []Cluster) {
	for _, c := range clusters {
		for i := range c.Members {
			m := &c.Members[i]
			m.Said = nil
			for _, d := range h[engine.Pair{A: min(c.Keeper.ID, m.ID), B: max(c.Keeper.ID, m.ID)}] {
				s := Said{By: d.By, Decision: d.Kind}
				if !d.At.IsZero() {
					s.At = d.At.UTC().Format(time.RFC3339Nano)
				}
				m.Said = append(m.Said, s)
			}
		}
	}
}
