package view

import (
	"encoding/json"
	"time"

	"github.com/simdb/simdb/internal/base"
)

// The types below have the fields of the types with the same names in package engine, which
// documents them, so that their values convert to each other.

// Doc is engine.Doc.
type Doc struct {
	ID           string
	Text         string
	Fields       json.RawMessage
	Fingerprint  *base.Fingerprint
	Rest         []base.Fingerprint
	Fingerprints [][]base.Fingerprint
	Time         time.Time
	Seq          uint64
}

// Entry is engine.Entry.
type Entry struct {
	ID             string
	Fingerprint    base.Fingerprint
	Rest           []base.Fingerprint
	Fingerprints   [][]base.Fingerprint
	HasFingerprint bool
	Time           time.Time
	Seq            uint64
}

// Match is engine.Match.
type Match struct {
	ID       string
	Distance int
	Score    float64
	Error    float64
	Exact    bool
}

// IDPair is engine.IDPair.
type IDPair struct{ A, B string }

// Progress is engine.Progress.
type Progress struct {
	Stage       string
	Done, Total int64
	Unit        string
}
