// Package library is simdb inside a process of another language: requests in JSON, tables in the
// Arrow C data interface, and columns as results. It calls nothing of the other language; what
// builds a shared library around it does.
//
//	library.go   requests, replies and open databases
//	jobs.go      dedup, tune and fingerprints of tables, and the options of a database
//	keywords.go  what is said by name
//	database.go  what an open database is asked
//	docs.go      documents of requests
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
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/arrow"
)

// A Request is what is to be done.
type Request struct {
	Op string `json:"op"`
	DB uint64 `json:"db"` // of an open database; of open the number that it gets, which its caller chooses

	// Keywords are what is said by name. Those that name files may name tables.
	Keywords map[string]json.RawMessage `json:"keywords"`

	By        criterion `json:"by"` // of a search
	Path      string    `json:"path"`
	ReadOnly  bool      `json:"readonly"`
	MustExist bool      `json:"must_exist"`

	BusyTimeout float64 `json:"busy_timeout"` // seconds

	Statement string            `json:"statement"`
	Params    []param           `json:"params"`
	Named     map[string]param  `json:"named"`
	IDs       []string          `json:"ids"`
	Texts     []string          `json:"texts"`
	Docs      map[string]string `json:"docs"`  // JSON lines in the place of tables
	Width     int               `json:"width"` // words of a fingerprint in Numbers

	Tables  map[string]*arrow.Table `json:"-"`
	Numbers []uint64                `json:"-"` // fingerprints to search for
}

// TableName is the table that a request is about.
const TableName = "<table>"

// A Reply is what was found.
type Reply struct {
	Values  any       // as JSON
	Columns []*Column // a table, or nil
	Keep    *Column   // of dedup: for each row whether it is kept
}

// Library is the state of a process: the databases that it has open.
type Library struct {
	mu  sync.Mutex
	dbs map[uint64]*engine.DB
}

// Run does what a request asks for.
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
	}
	do, ok := ops[r.Op]
	if !ok {
		return nil, fmt.Errorf("%q is nothing to do", r.Op)
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

// open opens a database. Its number comes from the caller, who can close it whatever becomes of the
// reply: a Ctrl-C may come when the database is open and the reply not yet read.
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
	db, err := engine.Open(r.Path, o)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = ctx.Err(); l.dbs[r.DB] != nil {
		err = fmt.Errorf("database %d is open: %w", r.DB, engine.ErrInvalid)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if l.dbs == nil {
		l.dbs = map[uint64]*engine.DB{}
	}
	l.dbs[r.DB] = db
	return &Reply{}, nil
}

// close closes a database. A second close does nothing.
func (l *Library) close(n uint64) error {
	l.mu.Lock()
	db := l.dbs[n]
	delete(l.dbs, n)
	l.mu.Unlock()
	if db == nil {
		return nil
	}
	return db.Close()
}

// param is a value of a statement: what kind of value, and the value as JSON.
type param struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value"`
}
