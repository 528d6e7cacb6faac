package dedup

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// job is a run of a Job.
type job struct {
	*inputs.Sources
	criteria
	ctx        context.Context
	env        *inputs.Env
	c          *Job
	args       []string // name the inputs
	dir        string   // of temporary files
	opt        records.Options
	formats    []records.Format
	first      int          // an input that is not empty: a single output has its format
	kind       outfile.Kind // of a single output
	rejects    *inputs.Rejects
	folder     *inputs.OutFolder // folder of outputs, else nil
	keepTo     []*outfile.Writer // one, or with a folder one for each input copied so far
	copyTo     io.Writer         // for Result.Copy, instead of keepTo; else nil
	auditTo    *outfile.Writer   // nil if no audit is written
	clustersTo *outfile.Writer   // nil without Clusters

	keep     rankings // by the rules of Keep
	params   features.Params
	features engine.Features
	rule     *pairrule.Rule // with its short forms; nil if a criterion decides
	limits   *pairrule.Rule // of the criterion; or nil
	flawed   []bool         // by input: it has content that is not a record
	read     int64          // documents
	against  []source
	known    int64 // number of documents in Against, which come before all others
	empty    int64 // documents without words
	bare     int64 // part of empty: documents with a fingerprint
	out      outcome
	kept     int64
	failed   []error // errors of files that could not be read to the end
	digests  *digests
	decided  *decided // nil without Decisions
	leveled  *Leveled // result of Level
	short    string   // advice about short texts
	equal    *equal   // nil if it has no documents to look at
	differ   *differing
	differs  *Differences // nil unless texts were stored for it
}

// A Place is the position of a document. An ID is not enough, because other files may repeat it.
type Place struct {
	ID, File string           // File may be a database
	Line     records.Position // from 1; 0 in a database
}

// source is an element of Against: a file or a database.
type source struct {
	*inputs.Sources
	path    string
	bytes   int64    // approximate size of its documents
	known   int64    // documents of earlier sources
	written []uint64 // for a database: when each document was written
	digest  contentDigest
}

// digests computes the digests of the inputs while the first pass reads them, so that files are
// read from disk only once.
type digests struct {
	inputs []AuditInput
	tree   *contentDigest // for Files or a database: of names and texts as they are read; else nil
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// contentDigest is a digest of documents. The zero value is the digest of no documents. A copy is
// independent of the original.
type contentDigest struct{ h xxh3.Hasher }

// add adds a document: a name, a text and a number.
func (c *contentDigest) add(name, text string, n uint64) {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], uint64(len(name)))
	binary.LittleEndian.PutUint64(b[8:], uint64(len(text)))
	binary.LittleEndian.PutUint64(b[16:], n)
	c.h.Write(b[:])
	c.h.WriteString(name)
	c.h.WriteString(text)
}

// sum returns the digest as the audit represents it.
func (c *contentDigest) sum() *string {
	sum := c.h.Sum128().Bytes()
	return new(hex.EncodeToString(sum[:]))
}

// equal counts the dropped documents whose sets equal their keepers', but that differ in symbols
// (ordinary punctuation does not count), or in the order or number of their words: shingles are a
// set and hide this. In the second pass it looks only at the texts of such pairs.
type equal struct {
	ready    func([]byte) []byte // prepares a text for shingler; nil if texts need no preparation
	shingler *token.Shingler     // splits a text into words
	words    uint64              // hash of the words so far
	sums     [][2]uint32         // hashes of the symbols and the words of a document; 1, 0 until they are known, 0 for other documents
}

// decided holds the Decisions about the documents that are read, and the pairs that databases of
// Against keep apart by ALLOW. A nil decided has none.
type decided struct {
	all   []Decision
	ids   map[string]uint32 // numbers the IDs of all documents with decisions
	kind  []DecisionKind    // by that number: keep, drop, or nothing
	apart map[[2]uint32]bool
	of    map[uint32]uint32 // by ordinal: the number of its ID
	known uint32            // lower ordinals belong to Against

	limits *limits            // or nil
	groups *collection.Groups // by ordinal; or nil

	allowed int64 // pairs that databases allow
}

// A badFunc receives input that is not a record.
type badFunc = func(in records.Source, is *records.Issue) error
