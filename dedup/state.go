package dedup

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/dedup/internal/grouping"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/outfile"
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
	args       []string // that name the inputs
	opt        records.Options
	formats    []records.Format
	first      int          // input with something in it: one output is like that
	kind       outfile.Kind // of one output
	rejects    *inputs.Rejects
	folder     *inputs.OutFolder // of outputs, else nil
	keepTo     []*outfile.Writer // one, or with a folder one for each input that was copied
	copyTo     io.Writer         // of Result.Copy, in place of keepTo; else nil
	auditTo    *outfile.Writer   // nil: no audit is written
	clustersTo *outfile.Writer   // nil without Clusters

	keep     rankings // of Keep
	params   features.Params
	features engine.Features
	flawed   []bool // inputs that have something that is no record
	read     int64  // documents
	against  []source
	known    int64 // documents of Against: the others are numbered after them
	empty    int64 // of them, without words
	bare     int64 // of these, with a fingerprint
	out      outcome
	kept     int64
	failed   []error // files that could not be read to the end
	digests  *digests
	decided  *decided // nil without Decisions
	part     bool     // of a run that many workers share: others have documents, too
	leveled  *Leveled // of Level
	short    string   // advice about short texts
	equal    *equal   // nil: there are no documents that it looks at
}

// A Place is where a document stands. Its ID alone does not say: IDs may come again in other files.
type Place struct {
	ID, File string           // or the database
	Line     records.Position // from 1 on; 0 in a database
}

// source is what Against names: a file or a database.
type source struct {
	*inputs.Sources
	path    string
	bytes   int64    // about, of its documents
	known   int64    // documents before those of this source
	written []uint64 // of a database: when each document was written
	digest  contentDigest
}

// digests computes the digests of the inputs while the first pass reads them, so that they are read
// from the disk once.
type digests struct {
	inputs []AuditInput
	tree   *contentDigest // of Files or a database, of names and texts as they are read; else nil
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// contentDigest is a digest of documents. The zero value is of none. A copy continues by itself.
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

// sum returns the digest as an audit has it.
func (c *contentDigest) sum() *string {
	sum := c.h.Sum128().Bytes()
	return new(hex.EncodeToString(sum[:]))
}

// equal counts the documents that were dropped as equal to their keepers, but differ in symbols
// (ordinary punctuation does not count), or in the order or number of their words, as shingles are
// a set. It looks at the texts of such pairs alone, in the second pass.
type equal struct {
	ready    func([]byte) []byte // makes a text ready to be cut into words; nil: it is
	shingler *token.Shingler     // cuts it
	words    uint64              // sum of the words so far
	sums     [][2]uint32         // of the symbols and the words of a document; 1, 0 before they are known, 0 of others
}

// decided is what Decisions says about the documents that are read, and which pairs the databases
// of Against keep apart by ALLOW. A nil one says nothing.
type decided struct {
	all   []Decision
	ids   map[string]uint32 // of all documents that are decided about: a number
	kind  []DecisionKind    // by that number: keep, drop, or nothing
	apart map[[2]uint32]bool
	of    map[uint32]uint32 // by ordinal: the number of its id
	known uint32            // ordinals below are of Against

	grouper *grouping.Grouper  // of Across and WithinField, else nil
	groups  *collection.Groups // by ordinal; nil, too

	allowed int64 // pairs of databases
}

// A badFunc takes what is no record of an input.
type badFunc = func(in records.Source, is *records.Issue) error
