package view

import (
	"encoding/json"
	"time"

	"github.com/simdb/simdb/internal/base"
)

// Match, IDPair and Progress have the fields of types of package engine, which documents them, so
// that values convert to each other.

// Doc is engine.Doc with its first fingerprint apart: Fingerprint is the first word, or nil, and
// Rest has the other words. Fingerprints are the further fingerprints.
type Doc struct {
	ID           string
	Text         string
	Fields       json.RawMessage
	Fingerprint  *base.Fingerprint
	Rest         []base.Fingerprint
	Fingerprints [][]base.Fingerprint
	Time         time.Time
	Expires      time.Time
	Seq          uint64
}

// Entry is a Doc without text and fields: the part that the indexes have.
type Entry struct {
	ID             string
	Fingerprint    base.Fingerprint
	Rest           []base.Fingerprint
	Fingerprints   [][]base.Fingerprint
	HasFingerprint bool
	Time           time.Time
	Expires        time.Time
	Seq            uint64
}

// Match is engine.Match.
type Match struct {
	Query    int
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
