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

// Fingerprint is a fingerprint of 64 bits or more, such as package simhash computes: near-duplicates
// differ in few of its bits. It consists of words of 64 bits, the most significant first:
// Options.Bits/64 of them.
type Fingerprint []uint64

// Doc is a document: what Put stores, what a search looks for, and what reads return.
type Doc struct {
	// ID is the key: 1 to 65,535 arbitrary bytes. Put replaces the document with the same ID.
	ID string `json:"id"`
	// Text is the text from which Put computes the fingerprint. The database stores it unless it
	// was created with NoText. Text and Fields have at most 64 MiB together; a larger document is
	// ErrTooLarge.
	Text string `json:"text,omitempty"`
	// Fields is a JSON object that is stored with the document byte for byte, or nil. A document
	// with Fields and without Text and Fingerprints is stored but not compared: it has no
	// fingerprint and no sketch, costs no more than its bytes, and is found by its ID, by ranges of
	// IDs and by its fields.
	Fields json.RawMessage `json:"fields,omitempty"`
	// Fingerprints holds the fingerprint to store. If it is nil, Put computes the SimHash of Text.
	// A text that contains only white space has no fingerprint: its document is stored and matches
	// nothing. In a database with Features.Several up to 65,535 further fingerprints may follow,
	// such as those of the frames of a video, or of a rotated picture; the ID is then at most 65,517
	// bytes long. Near compares the nearest of all fingerprints of a document.
	Fingerprints []Fingerprint `json:"fingerprints,omitempty"`
	// Time is when the document was stored, to the microsecond; zero means now. The time to
	// live, Prune and SINCE use it.
	Time time.Time `json:"time,omitzero"`
	// Expires is when the document expires, to the microsecond, if Options.TTL does not end it
	// earlier; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Seq is the number of the write that stored the document; a later write has a larger number.
	// Reads set it, for PutIfVersion and Batch.RequireVersion; writes ignore it.
	Seq uint64 `json:"seq,omitempty"`
}

// inner returns the document as the packages below represent it. It shares the fingerprints of d.
func (d *Doc) inner() view.Doc {
	v := view.Doc{ID: d.ID, Text: d.Text, Fields: d.Fields, Time: d.Time, Expires: d.Expires, Seq: d.Seq}
	all := d.Fingerprints
	if len(all) > 0 && len(all[0]) > 0 {
		if v.Fingerprint = &all[0][0]; len(all[0]) > 1 {
			v.Rest = all[0][1:]
		}
		all = all[1:]
	}
	v.Fingerprints = wordsOf(all)
	return v
}

// wordsOf converts fingerprints to the type of internal packages; the words are shared.
func wordsOf(fps []Fingerprint) [][]uint64 {
	if len(fps) == 0 {
		return nil
	}
	all := make([][]uint64, len(fps))
	for i, fp := range fps {
		all[i] = fp
	}
	return all
}

// fingerprintsOf returns the fingerprints of a document: its own, if there is one, and more.
func fingerprintsOf(has bool, first uint64, rest []uint64, more [][]uint64) []Fingerprint {
	if !has {
		return nil
	}
	one := new(struct { // a single allocation for the common case
		all   [1]Fingerprint
		words [1]uint64
	})
	one.words[0] = first
	one.all[0] = append(one.words[:], rest...)
	all := one.all[:]
	for _, words := range more {
		all = append(all, words)
	}
	return all
}

// Match is a document that a query found.
type Match struct {
	Query    int     `json:"-"` // by SearchBatch: the position of the query in the batch
	ID       string  `json:"id,omitempty"`
	Distance int     `json:"distance"`        // Hamming distance in bits, for Near
	Score    float64 `json:"score,omitempty"` // Jaccard similarity, or that of another criterion, in [0,1]
	Error    float64 `json:"error,omitempty"` // standard error of Score
	Exact    bool    `json:"exact,omitempty"` // Score is exact: the texts were compared, or neither sketch was full
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
// Cosine(t), Contains(t) or Within(t). The zero Criterion is not a criterion: everything that needs
// one returns ErrInvalid.
type Criterion struct {
	by        view.Criterion
	kind      string
	estimated bool // by Jaccard: sketches decide
}

// Kind returns the measure of the criterion: "near", "jaccard", "levenshtein", "cosine", "contains"
// or "within". It is "" for the zero Criterion.
func (c Criterion) Kind() string { return c.kind }

// in returns the criterion for a database, as the packages below represent it.
func (c Criterion) in(conf *view.Config) view.Criterion {
	c.by.None = c.kind == ""
	c.by.Verified = c.by.Jaccard && !c.estimated && conf.Params.StoreText
	return c.by
}

// K returns k of Near(k), 0 for another criterion.
func (c Criterion) K() int { return c.by.K }

// T returns the threshold of the criterion, 0 for Near.
func (c Criterion) T() float64 { return c.by.T }

// Near is the criterion "fingerprints differ in at most k bits", k from 0 to as many as they have.
func Near(k int) Criterion { return Criterion{by: view.Criterion{K: k}, kind: "near"} }

// Jaccard is the criterion "the two documents share at least the fraction t of all their shingles",
// 0 < t <= 1. The texts decide, and scores are exact; in a database that stores no texts, they are
// estimated from sketches. Sketches also find the candidates: a document whose similarity is exactly
// t is missed with a probability of at most 1e-9, and those above t with less. With sketches of N
// hashes this holds if (1-t)^N is less, for N = 32 from t = 0.5 on; otherwise it is (1-t)^N.
func Jaccard(t float64) Criterion {
	return Criterion{by: view.Criterion{Jaccard: true, T: t}, kind: "jaccard"}
}

// Levenshtein is the criterion "the texts have a similarity of t or more", 0 < t <= 1. The
// similarity is 1 - d/n, where d is the smallest number of runes to insert, delete or replace to
// turn one text into the other, and n is the number of runes of the longer text. It is meant for
// short texts. The database must store texts.
func Levenshtein(t float64) Criterion {
	return Criterion{by: view.Criterion{Text: view.Levenshtein, T: t}, kind: "levenshtein"}
}

// Cosine is the criterion "the cosine of the word counts of the two texts is t or more", 0 < t <=
// 1. Words are the runs of letters, marks and numbers of the unchanged texts: stop words count, and
// the masks and normal form of the database have no effect. The order of words does not matter. The
// database must store texts.
func Cosine(t float64) Criterion {
	return Criterion{by: view.Criterion{Text: view.Cosine, T: t}, kind: "cosine"}
}

// Contains is the criterion "the document contains at least the fraction t of the shingles of the
// query", 0 < t <= 1: it finds longer texts that contain the query, or parts of it such as
// quotations. In pairs and clusters the larger document contains the smaller one. The database must
// store texts.
func Contains(t float64) Criterion {
	return Criterion{by: view.Criterion{Text: view.Contains, T: t}, kind: "contains"}
}

// Within is the criterion "the query contains at least the fraction t of the shingles of the
// document", 0 < t <= 1: the other direction of Contains.
func Within(t float64) Criterion {
	return Criterion{by: view.Criterion{Text: view.Within, T: t}, kind: "within"}
}

// Estimated returns the criterion decided on sketches, even if texts are stored: Jaccard(t) then
// finds the documents whose estimate reaches t, faster and without reading texts. Some have a
// similarity below t, and others above t are missing. Other criteria are returned unchanged.
func (c Criterion) Estimated() Criterion {
	c.estimated = c.by.Jaccard
	return c
}

// IsEstimated reports whether the criterion is the result of Estimated, by Jaccard.
func (c Criterion) IsEstimated() bool { return c.estimated }

// String writes the criterion as the query language does: "NEAR 3", "JACCARD 0.8", "JACCARD 0.8
// ESTIMATE", "LEVENSHTEIN 0.9", "COSINE 0.9".
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
	if c.estimated {
		return fmt.Sprintf("JACCARD %g ESTIMATE", c.by.T)
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
	number, estimated := strings.CutSuffix(number, " ESTIMATE")
	t, err := strconv.ParseFloat(number, 64)
	criterion, known := map[string]func(t float64) Criterion{
		"NEAR": func(k float64) Criterion { return Near(int(k)) }, "JACCARD": Jaccard, "LEVENSHTEIN": Levenshtein,
		"COSINE": Cosine, "CONTAINS": Contains, "WITHIN": Within,
	}[kind]
	if err != nil || !known {
		return fmt.Errorf("%q is not a criterion: %w", text, ErrInvalid)
	}
	if *c = criterion(t); estimated {
		*c = c.Estimated()
	}
	return nil
}

// Progress says how far a long operation has got.
type Progress struct {
	Stage       string // the current step, for people: "join", "sort", "recover 000012.sst", ...
	Done, Total int64  // in Unit; Total is 0 while it is unknown
	Unit        string // "documents", "bytes", ..., or "" if Done and Total are only a fraction
}

// ClusterOptions are the options of Clusters.
type ClusterOptions struct {
	// Components forms the connected components of the matching pairs, whose members may be far from
	// the keeper. Otherwise every member of a cluster matches its keeper. Then fingerprints are visited
	// in the order of preference of their most preferred documents. Each joins the nearest earlier
	// keeper that it matches (the preferred keeper if several are equally near), or becomes a keeper
	// itself. Documents with equal fingerprints stay together. By Jaccard documents are visited one by
	// one, and the nearest keeper is the one with the highest score.
	Components bool
	// Before reports whether a is preferred to b as the document to keep; it must be a strict weak
	// order. It receives documents without texts, fields and fingerprints. Among equally preferred
	// documents, or all if Before is nil, the one written first is preferred.
	Before func(a, b Doc) bool
	// Of, if not "", is the ID of a document: Clusters yields only the cluster of this document, as
	// cluster 1, or nothing if it is in no cluster. By Near and Jaccard Clusters then
	// searches for the documents of the cluster and for those that decide which are keepers:
	// whether a document is a keeper depends on the earlier documents that it matches. If there are
	// very many, and also with other criteria, with Before, and if SetAllowed has recorded pairs, it
	// forms all clusters. If the document does not exist, the error is ErrNotFound.
	Of       string
	Progress func(Progress) // may be nil
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
	ErrExpired     = files.ErrExpired     // a document that has expired, or changes since a position that the database does not know
	ErrTooLarge    = files.ErrTooLarge    // a document, a result or a packed table exceeds its limit
	ErrNotDatabase = files.ErrNotDatabase // the path is not a simdb database
	ErrNoSketches  = files.ErrNoSketches  // JACCARD in a database without sketches
	ErrConflict    = files.ErrConflict    // Commit of a transaction that has read what others have changed since
	ErrFailed      = files.ErrFailed      // a write failed, and no more are accepted; wraps the cause
	ErrCorruption  = base.ErrCorruption   // wrapped by every *CorruptionError
)

// CorruptionError says which file is damaged, in which section and at which offset. It unwraps to
// ErrCorruption and to Err. Its fields are
//
//	File    string // the file's name, as it was opened
//	Section string // the part of the file: "footer", "records", "table 2", ...
//	Offset  int64  // byte offset of the damaged unit; -1 if unknown
//	Err     error  // the reason why it is damaged
type CorruptionError = base.CorruptionError
