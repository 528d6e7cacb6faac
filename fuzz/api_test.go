package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

// What the targets need of package engine, so that a change of its API changes only this file.

func create(path string, o engine.Options) (*engine.DB, error) { return engine.Create(path, &o) }
func open(path string, o engine.Options) (*engine.DB, error)   { return engine.Open(path, &o) }

func recoverTo(path, to string) (engine.RecoverReport, error) {
	return engine.Recover(context.Background(), path, to, nil)
}

func compact(db *engine.DB, due bool) error {
	return db.Compact(context.Background(), &engine.CompactOptions{Due: due})
}

func newLoader(db *engine.DB, replace bool, memory int) (*engine.Loader, error) {
	return db.NewLoader(context.Background(), &engine.LoadOptions{Replace: replace, MemoryBytes: int64(memory), Workers: 1})
}

// A doc is a document: one that is written, or one that a database is expected to have.
type doc struct {
	id, text, fields string
	fingerprints     [][]uint64 // fingerprints; nil: the fingerprint of the text
	time             time.Time
	seq              uint64
}

// given returns the document as programs write it.
func (d *doc) given() engine.Doc {
	e := engine.Doc{ID: d.id, Text: d.text, Time: d.time}
	if d.fields != "" {
		e.Fields = json.RawMessage(d.fields)
	}
	for _, fp := range d.fingerprints {
		e.Fingerprints = append(e.Fingerprints, fp)
	}
	return e
}

// docOf is the inverse of given, for a document that was read.
func docOf(e engine.Doc) doc {
	d := doc{id: e.ID, text: e.Text, fields: string(e.Fields), time: e.Time, seq: e.Seq}
	for _, fp := range e.Fingerprints {
		d.fingerprints = append(d.fingerprints, fp)
	}
	return d
}

// String shows all but seq.
func (d doc) String() string {
	return fmt.Sprintf("%q %q %s %x %s", d.id, d.text, d.fields, d.fingerprints, d.time.UTC().Format(time.RFC3339Nano))
}

// lookup reads a document without its text.
func lookup(s *engine.Snapshot, id string) (doc, error) {
	e, err := s.Lookup(context.Background(), id)
	return docOf(e), err
}

// getEach reads several documents: their contents in storage order, the rest one by one.
func getEach(s *engine.Snapshot, ids []string) (all []doc, err error) {
	for d, e := range s.Contents(context.Background(), ids) {
		if err = e; err != nil {
			return all, err
		}
		rest, err := s.Lookup(context.Background(), ids[d.Index])
		if err != nil {
			return all, err
		}
		rest.Text, rest.Fields = string(d.Text), slices.Clone(d.Fields)
		all = append(all, docOf(rest))
	}
	slices.SortFunc(all, func(a, b doc) int { return strings.Compare(a.id, b.id) })
	return all, err
}

// A found document; the score of NEAR is minus the distance.
type found struct {
	id    string
	score float64
}

func scoreOf(m engine.Match, near bool) float64 {
	if near {
		return float64(-m.Distance)
	}
	return m.Score
}

func search(s *engine.Snapshot, q engine.Doc, by criterion, limit int) (all []found, err error) {
	for m, err := range s.Search(context.Background(), q, by.by, &engine.SearchOptions{Limit: limit}) {
		if err != nil {
			return nil, err
		}
		all = append(all, found{m.ID, scoreOf(m, by.near())})
	}
	return all, nil
}

func pairsOf(s *engine.Snapshot, by criterion, o engine.SearchOptions) (all []pair, err error) {
	for p, err := range s.Pairs(context.Background(), by.by, &o) {
		if err != nil {
			return nil, err
		}
		all = append(all, pair{strings.Clone(p.A), strings.Clone(p.B), scoreOf(p.Match, by.near())})
	}
	return all, nil
}

func countPairs(s *engine.Snapshot, by criterion) (int64, error) {
	return s.CountPairs(context.Background(), by.by, nil)
}

func membersOf(seq iter.Seq2[engine.Member, error], by criterion) (all []member, err error) {
	for m, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, member{m.Cluster, m.ID, m.Keep, scoreOf(m.Match, by.near())})
	}
	return all, nil
}

func clustersOf(s *engine.Snapshot, by criterion, mode bool) ([]member, error) {
	return membersOf(s.Clusters(context.Background(), by.by, &engine.ClusterOptions{Components: mode}), by)
}

func clusterOf(s *engine.Snapshot, id string, by criterion) ([]member, error) {
	return membersOf(s.Clusters(context.Background(), by.by, &engine.ClusterOptions{Of: id}), by)
}

// anyOf reports which documents have a match that PutNovel would name.
func anyOf(s *engine.Snapshot, docs []engine.Doc, by criterion) ([]bool, error) {
	known, _, err := s.Any(context.Background(), docs, by.by, nil)
	return known, err
}

func collect[T any](t testing.TB, seq iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}
