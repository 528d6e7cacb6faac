package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
)

// Limits of a document. A document that exceeds one is refused with ErrTooLarge, never cut.
const (
	MaxIDBytes   = 65535    // an ID has 1 to MaxIDBytes bytes
	MaxTextBytes = 64 << 20 // Text and Fields together have at most MaxTextBytes bytes

	// MaxFingerprints is the largest number of further fingerprints of a document: see
	// Doc.Fingerprints. The ID of a document with further fingerprints must be 8 bytes shorter.
	MaxFingerprints = 65535
)

// Fingerprint is a 64-bit fingerprint, a uint64, such as package simhash computes: near-duplicates
// differ in few of its bits. A database with wider fingerprints (Options.Bits) stores several per
// document, one for each 64 bits: the words of the wide fingerprint, the most significant first.
type Fingerprint = base.Fingerprint

// Doc is a document: what Put stores and Get returns.
type Doc struct {
	// ID is the key: 1 to MaxIDBytes arbitrary bytes. Put replaces the document with the same ID.
	ID string `json:"id"`
	// Text is the text from which Put computes the fingerprint. The database stores it unless it
	// was created with NoText.
	Text string `json:"text,omitempty"`
	// Fields is a JSON object that is stored with the document byte for byte, or nil. A document
	// with Fields and without Text and Fingerprint is stored but not compared: it has no
	// fingerprint and no sketch, costs no more than its bytes, and is found by its ID, by ranges of
	// IDs and by its fields.
	Fields json.RawMessage `json:"fields,omitempty"`
	// Fingerprint is the fingerprint to store, or the first word of a fingerprint with more than 64
	// bits. If it is nil, Put computes the SimHash of Text. A text that contains only white space
	// has no fingerprint: its document is stored and matches nothing.
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
	// Rest holds the Options.Bits/64 - 1 words of the fingerprint that follow the first.
	Rest []Fingerprint `json:"rest,omitempty"`
	// Fingerprints are further fingerprints of Options.Bits/64 words each, such as those of the
	// frames of a video, or of a rotated picture. Near compares the nearest of all fingerprints of
	// a document. There are at most MaxFingerprints, and only in a database with Features.Several.
	// If Fingerprint is nil, the first of Fingerprints is used in its place.
	Fingerprints [][]Fingerprint `json:"fingerprints,omitempty"`
	// Time is when the document was stored, to the microsecond; zero means now. The time to
	// live, Prune and SINCE use it.
	Time time.Time `json:"time,omitzero"`
	// Seq is the number of the write that stored the document; versions of a document differ in it.
	// Reads set it, for PutIfVersion and Batch.RequireVersion; writes ignore it.
	Seq uint64 `json:"seq,omitempty"`
}

// Entry returns the document without its text and fields.
func (d *Doc) Entry() Entry {
	e := Entry{ID: d.ID, Rest: d.Rest, Fingerprints: d.Fingerprints, HasFingerprint: d.Fingerprint != nil, Time: d.Time, Seq: d.Seq}
	if e.HasFingerprint {
		e.Fingerprint = *d.Fingerprint
	}
	return e
}

// SetFingerprint sets Fingerprint and Rest to the words of a fingerprint, the most significant
// first. Without words it clears both.
func (d *Doc) SetFingerprint(words ...Fingerprint) {
	d.Fingerprint, d.Rest = nil, nil
	if len(words) > 0 {
		d.Fingerprint = &words[0]
	}
	if len(words) > 1 {
		d.Rest = words[1:]
	}
}

// Words returns the words of the fingerprint, or nil if there is none.
func (d *Doc) Words() []Fingerprint {
	if d.Fingerprint == nil {
		return nil
	}
	return append([]Fingerprint{*d.Fingerprint}, d.Rest...)
}

// Entry is a document without its text and fields: all that can be read from the indexes alone.
type Entry struct {
	ID          string        `json:"id"`
	Fingerprint Fingerprint   `json:"fingerprint"`    // the first word; meaningful if HasFingerprint
	Rest        []Fingerprint `json:"rest,omitempty"` // the other words
	// Fingerprints are the further fingerprints, as in Doc. The entries that ClusterOptions.Before
	// compares have none.
	Fingerprints   [][]Fingerprint `json:"fingerprints,omitempty"`
	HasFingerprint bool            `json:"has_fingerprint"` // false for a text without words
	Time           time.Time       `json:"time"`
	Seq            uint64          `json:"seq"` // the order of writing: a later write has a larger number
}

// Words returns the words of the fingerprint, or nil if there is none.
func (e *Entry) Words() []Fingerprint {
	if !e.HasFingerprint {
		return nil
	}
	return append([]Fingerprint{e.Fingerprint}, e.Rest...)
}

// Distance returns the smallest distance between any fingerprint of the document and any of fps,
// which must have the same number of words. It returns false if there is no such pair.
func (e *Entry) Distance(fps ...[]Fingerprint) (least int, ok bool) {
	if !e.HasFingerprint {
		return 0, false
	}
	for _, own := range append([][]Fingerprint{e.Words()}, e.Fingerprints...) {
		for _, fp := range fps {
			if d := base.DistanceWords(own, fp); !ok || d < least {
				least, ok = d, true
			}
		}
	}
	return least, ok
}

// Match is a document that a query found.
type Match struct {
	ID       string  `json:"id,omitempty"`
	Distance int     `json:"distance"`        // Hamming distance in bits, for Near
	Score    float64 `json:"score,omitempty"` // Jaccard estimate, or similarity by another criterion, in [0,1]
	Error    float64 `json:"error,omitempty"` // standard error of Score
	Exact    bool    `json:"exact,omitempty"` // Score is exact: neither sketch was full, or the texts were compared
}

// Pair is two documents that match each other; A < B bytewise.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	Match
}

// Member is a document's place in a cluster.
type Member struct {
	Cluster int  `json:"cluster"` // 1 is the largest cluster
	Keep    bool `json:"keep"`    // Keep is true for the one document of the cluster to keep
	Match        // ID, and distance or score to the keeper
}

// Criterion says when two documents count as near-duplicates: Near(k), Jaccard(t), Levenshtein(t),
// Cosine(t), Contains(t) or Within(t). The zero Criterion is not a criterion.
type Criterion struct {
	by   view.Criterion
	kind CriterionKind
}

// CriterionKind names the measure of a Criterion; it is "" for the zero Criterion.
type CriterionKind string

// The kinds of criteria.
const (
	KindNear        CriterionKind = "near"
	KindJaccard     CriterionKind = "jaccard"
	KindLevenshtein CriterionKind = "levenshtein"
	KindCosine      CriterionKind = "cosine"
	KindContains    CriterionKind = "contains"
	KindWithin      CriterionKind = "within"
)

// Kind returns the measure of the criterion.
func (c Criterion) Kind() CriterionKind { return c.kind }

// K returns k of Near(k), 0 for another criterion.
func (c Criterion) K() int { return c.by.K }

// T returns the threshold of the criterion, 0 for Near.
func (c Criterion) T() float64 { return c.by.T }

// Near is the criterion "fingerprints differ in at most k bits", k from 0 to as many as they have.
func Near(k int) Criterion { return Criterion{view.Criterion{K: k}, KindNear} }

// Jaccard is the criterion "the two documents share at least the fraction t of all their shingles",
// 0 < t <= 1, as estimated from sketches.
func Jaccard(t float64) Criterion { return Criterion{view.Criterion{Jaccard: true, T: t}, KindJaccard} }

// Levenshtein is the criterion "the texts have a similarity of t or more", 0 < t <= 1. The
// similarity is 1 - d/n, where d is the smallest number of runes to insert, delete or replace to
// turn one text into the other, and n is the number of runes of the longer text. It is meant for
// short texts. The database must store texts.
func Levenshtein(t float64) Criterion {
	return Criterion{view.Criterion{Text: view.Levenshtein, T: t}, KindLevenshtein}
}

// Cosine is the criterion "the cosine of the word counts of the two texts is t or more", 0 < t <=
// 1. Words are the runs of letters, marks and numbers of the unchanged texts: stop words count, and
// the masks and normal form of the database have no effect. The order of words does not matter. The
// database must store texts.
func Cosine(t float64) Criterion {
	return Criterion{view.Criterion{Text: view.Cosine, T: t}, KindCosine}
}

// Contains is the criterion "the document contains at least the fraction t of the shingles of the
// query", 0 < t <= 1: it finds longer texts that contain the query, or parts of it such as
// quotations. In pairs and clusters the larger document contains the smaller one. The database must
// store texts.
func Contains(t float64) Criterion {
	return Criterion{view.Criterion{Text: view.Contains, T: t}, KindContains}
}

// Within is the criterion "the query contains at least the fraction t of the shingles of the
// document", 0 < t <= 1: the other direction of Contains.
func Within(t float64) Criterion {
	return Criterion{view.Criterion{Text: view.Within, T: t}, KindWithin}
}

// Verified returns the criterion decided on the texts themselves: with Jaccard(t) there is no match
// whose real similarity is below t, and scores are exact. Candidates are pairs whose estimate is at
// most 3.3 standard errors below t. The database must store texts. Other criteria are exact, and
// are returned unchanged.
func (c Criterion) Verified() Criterion {
	c.by.Verified = c.by.Jaccard
	return c
}

// IsVerified reports whether the criterion is a Jaccard criterion that is decided on the texts.
func (c Criterion) IsVerified() bool { return c.by.Verified }

// Distance returns k of Near(k); ok is false for another criterion.
func (c Criterion) Distance() (k int, ok bool) { return c.by.K, c.by.Near() }

// Threshold returns t of Jaccard(t); ok is false for another criterion.
func (c Criterion) Threshold() (t float64, ok bool) { return c.by.T, c.by.Jaccard }

// OfText returns t of Levenshtein(t), Cosine(t), Contains(t) and Within(t); ok is false for another
// criterion.
func (c Criterion) OfText() (t float64, ok bool) { return c.by.T, c.by.Text != view.NoTextMeasure }

// String writes the criterion as the query language does: "NEAR 3", "JACCARD 0.8", "JACCARD 0.8
// VERIFY", "LEVENSHTEIN 0.9", "COSINE 0.9".
func (c Criterion) String() string {
	if c.kind == "" {
		return "none"
	}
	switch c.by.Text {
	case view.Levenshtein:
		return fmt.Sprintf("LEVENSHTEIN %g", c.by.T)
	case view.Contains:
		return fmt.Sprintf("CONTAINS %g", c.by.T)
	case view.Within:
		return fmt.Sprintf("WITHIN %g", c.by.T)
	case view.Cosine:
		return fmt.Sprintf("COSINE %g", c.by.T)
	}
	if c.by.Verified {
		return fmt.Sprintf("JACCARD %g VERIFY", c.by.T)
	}
	if c.by.Jaccard {
		return fmt.Sprintf("JACCARD %g", c.by.T)
	}
	return fmt.Sprintf("NEAR %d", c.by.K)
}

// MarshalText implements encoding.TextMarshaler. It returns String, or "" for the zero Criterion.
func (c Criterion) MarshalText() ([]byte, error) {
	if c.kind == "" {
		return nil, nil
	}
	return []byte(c.String()), nil
}

// UnmarshalText parses the output of MarshalText.
func (c *Criterion) UnmarshalText(text []byte) error {
	if *c = (Criterion{}); len(text) == 0 {
		return nil
	}
	kind, number, _ := strings.Cut(string(text), " ")
	number, verified := strings.CutSuffix(number, " VERIFY")
	t, err := strconv.ParseFloat(number, 64)
	criterion, known := map[string]func(t float64) Criterion{
		"NEAR": func(k float64) Criterion { return Near(int(k)) }, "JACCARD": Jaccard, "LEVENSHTEIN": Levenshtein,
		"COSINE": Cosine, "CONTAINS": Contains, "WITHIN": Within,
	}[kind]
	if err != nil || !known {
		return fmt.Errorf("%q is not a criterion: %w", text, ErrInvalid)
	}
	if *c = criterion(t); verified {
		*c = c.Verified()
	}
	return nil
}

// Progress says how far a long operation has come.
type Progress struct {
	Stage       string       // the current step, for people: "join", "sort", "recover 000012.sst", ...
	Done, Total int64        // in Unit; Total is 0 while it is unknown
	Unit        ProgressUnit // "" if Done and Total are only a fraction and count nothing
}

// ProgressUnit names the things that Progress counts. A program may define its own units.
type ProgressUnit string

// The units of the engine.
const (
	Documents ProgressUnit = "documents"
	Bytes     ProgressUnit = "bytes"
)

// given returns the options of a call, which may be left out or nil. If there are several it
// returns the last.
func given[T any](all []*T) (last T) {
	for _, o := range all {
		if o != nil {
			last = *o
		}
	}
	return last
}

// ClusterMode says how clusters are formed from matching pairs.
type ClusterMode int

const (
	// Star forms clusters in which every member matches its keeper. Fingerprints are visited in the
	// order of preference of their most preferred documents. Each joins the nearest earlier keeper
	// that it matches (the preferred keeper if several are equally near), or becomes a keeper
	// itself. Documents with equal fingerprints stay together. By Jaccard documents are visited one
	// by one, and the nearest keeper is the one with the highest score.
	Star ClusterMode = iota
	// Components forms the connected components of the matching pairs: members may be far from the
	// keeper.
	Components
)

// ClusterOptions are the options of Clusters.
type ClusterOptions struct {
	Mode ClusterMode
	// Before reports whether a is preferred to b as the document to keep; it must be a strict weak
	// order. Among equally preferred documents, or all if Before is nil, the one written first is
	// preferred.
	Before func(a, b Entry) bool
	// Count, if not nil, is set to the number of clusters; then no members are yielded.
	Count    *int64
	Progress func(Progress)
}

// Errors that callers distinguish with errors.Is.
var (
	ErrNotFound    = files.ErrNotFound    // no document with this ID, or no database at this path
	ErrExists      = files.ErrExists      // Create over a database, Loader.Add of a stored ID, PutIfAbsent
	ErrLocked      = files.ErrLocked      // another process has the database open for writing
	ErrReadOnly    = files.ErrReadOnly    // a write to a database opened read-only
	ErrClosed      = files.ErrClosed      // any use after Close
	ErrParams      = files.ErrParams      // options or a query that disagree with how the database was created
	ErrInvalid     = files.ErrInvalid     // an empty ID, a distance that no fingerprints have, ...
	ErrExpired     = files.ErrExpired     // a document that is older than Options.TTL
	ErrTooLarge    = files.ErrTooLarge    // a document, a result or a packed table exceeds its limit
	ErrNotDatabase = files.ErrNotDatabase // the path is not a simdb database
	ErrNoSketches  = files.ErrNoSketches  // JACCARD in a database without sketches
	ErrFailed      = files.ErrFailed      // a write failed, and no more are accepted; wraps the cause
	ErrCorruption  = base.ErrCorruption   // wrapped by every *CorruptionError
)

// CorruptionError says which file is damaged, in which section and at which offset. It unwraps to
// ErrCorruption and to Err. Its fields are
//
//	File    string // the file's name, as it was opened
//	Section string // the part of the file: "footer", "records", "table 2", ...
//	Offset  int64  // byte offset of the damaged unit; -1 if unknown
//	Err     error  // what is wrong with it
type CorruptionError = base.CorruptionError
