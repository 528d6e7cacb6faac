// Package library runs simdb inside a process of another language: requests are JSON, tables use
// the Arrow C data interface, and results are columns. It calls nothing in the other language; the
// code that builds a shared library around it does.
//
//	library.go   requests, replies and open databases
//	jobs.go      dedup, tune and fingerprints of tables, and the options of a database
//	learn.go     questions about pairs, and rules that are learned from labels
//	keywords.go  arguments by name
//	database.go  operations on an open database
//	docs.go      documents of requests
//	pictures.go  hashes of pictures
//	columns.go   the columns of a reply
//	errors.go    the kinds of errors
//	option.go    how messages name options
package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/arrow"
	"github.com/simdb/simdb/records/inputs"
)

// A Request names one operation and its arguments.
type Request struct {
	Op string `json:"op"`
	DB uint64 `json:"db"` // an open database; for open and questions, the number of what is opened, which the caller chooses

	// Keywords are the arguments by name. Keywords for files may name tables.
	Keywords map[string]json.RawMessage `json:"keywords"`

	By        criterion `json:"by"` // for a search
	Path      string    `json:"path"`
	ReadOnly  bool      `json:"readonly"`
	MustExist bool      `json:"must_exist"`

	BusyTimeout float64 `json:"busy_timeout"` // seconds

	Statement string           `json:"statement"`
	Params    []param          `json:"params"`
	Named     map[string]param `json:"named"`
	IDs       []string         `json:"ids"`
	Texts     []string         `json:"texts"`
	Width     int              `json:"width"`   // words per fingerprint in Numbers
	Paths     []string         `json:"paths"`   // of pictures
	Renew     bool             `json:"renew"`   // for put_novel
	Labels    []learn.Label    `json:"labels"`  // for learn, questions and ask
	Skipped   []learn.Label    `json:"skipped"` // for ask: pairs that must not be asked about again

	// Documents, by the name of their table: Arrow in memory, JSON lines, files of JSON lines, or the
	// paths and patterns of files. Streams are the names of Arrow streams to spool: to copy to a file of
	// JSON lines, because they can be read once, and may be larger than the memory.
	Tables  map[string]*arrow.Table `json:"-"`
	Docs    map[string]string       `json:"docs"`
	Spooled map[string]string       `json:"spooled"`
	Files   map[string][]string     `json:"files"`
	Streams []string                `json:"streams"`
	Shapes  map[string]*arrow.Table `json:"-"` // the columns of streams that are spooled

	own     map[string]bool // the files of the table
	Numbers []uint64        `json:"-"` // fingerprints to search for
}

// TableName is the name of the table that a request operates on.
const TableName = "<table>"

// A Reply is the result of a request.
type Reply struct {
	Values  any       // encoded as JSON
	Columns []*Column // a table, or nil
	Keep    *Column   // for dedup: whether each row is kept
}

// Library is the state of a process: its open databases, and documents of questions.
type Library struct {
	mu      sync.Mutex
	dbs     map[uint64]*engine.DB
	corpora map[uint64]*corpus
}

// Run executes a request.
func (l *Library) Run(ctx context.Context, r *Request) (*Reply, error) {
	switch r.Op {
	case "open":
		return l.open(ctx, r)
	case "close":
		return &Reply{}, l.close(r.DB)
	case "dedup":
		return dedupTable(ctx, r)
	case "tune":
		return tuneTable(ctx, r)
	case "fingerprints":
		return fingerprints(ctx, r)
	case "learn":
		return l.learn(ctx, r)
	case "questions":
		return l.openCorpus(ctx, r)
	case "ask":
		return l.ask(ctx, r)
	case "labels":
		all, err := learn.ReadLabels(ctx, r.Path, nil)
		return &Reply{Values: map[string]any{"labels": all}}, err
	case "pictures":
		return pictures(ctx, r)
	}
	do, ok := ops[r.Op]
	if !ok {
		return nil, fmt.Errorf("unknown operation %q", r.Op)
	}
	db, err := l.find(r.DB)
	if err != nil {
		return nil, err
	}
	return do(ctx, db, r)
}

// find returns an open database.
func (l *Library) find(n uint64) (*engine.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if db, ok := l.dbs[n]; ok {
		return db, nil
	}
	return nil, engine.ErrClosed
}

// open opens a database. The caller chooses its number, and so can close the database even if the
// reply is lost: Ctrl-C may arrive when the database is open and the reply has not been read.
func (l *Library) open(ctx context.Context, r *Request) (*Reply, error) {
	o, err := r.createOptions()
	if err != nil {
		return nil, err
	}
	if !o.ReadOnly && !o.MustExist {
		if err := app.Prepare(r.Path); err != nil {
			return nil, err
		}
	}
	db, err := inputs.Open(r.Path, o)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.free(ctx, r.DB); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if l.dbs == nil {
		l.dbs = map[uint64]*engine.DB{}
	}
	l.dbs[r.DB] = db
	return &Reply{}, nil
}

// free returns an error if a number is in use, or if the caller no longer waits.
func (l *Library) free(ctx context.Context, n uint64) error {
	if l.dbs[n] != nil || l.corpora[n] != nil {
		return fmt.Errorf("number %d is open: %w", n, engine.ErrInvalid)
	}
	return ctx.Err()
}

// close closes a database, or forgets the documents of questions. A second close does nothing.
func (l *Library) close(n uint64) error {
	l.mu.Lock()
	db := l.dbs[n]
	delete(l.dbs, n)
	delete(l.corpora, n)
	l.mu.Unlock()
	if db == nil {
		return nil
	}
	return db.Close()
}

// param is a parameter value of a statement: its kind, and its value as JSON.
type param struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value"`
}
