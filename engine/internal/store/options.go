package store

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/internal/vfs"
)

// Options are engine.Options, which documents them.
type Options struct {
	Shingle    int
	Features   features.Spec
	Layout     string
	Bits       int
	Sketch     int
	MinJaccard float64
	NoText     bool
	NoSketch   bool
	Sets       bool
	Index      string // in the form of jsonfield.Canonical
	TTL        time.Duration

	ReadOnly    bool
	BusyTimeout time.Duration
	MustExist   bool
	Memory      int64
	Cache       int64
	Shared      bool
	Table       interface {
		io.ReaderAt
		Size() int64
	} // the content of the table at the path, or nil
	SetCache *table.Cache // the cache of the set that the database is a member of, instead of its own

	NoSync           bool
	MemtableBytes    int
	MaxTableBytes    int64
	History          int64
	NoAutoCompaction bool
	CompactionRate   int64
	ScrubRate        int64
	CloseWait        time.Duration

	Logger  *slog.Logger
	OnEvent func(Event)

	FS  vfs.FS           // nil means the disk
	Now func() time.Time // nil means time.Now
	// Elapsed is the monotonic clock of tests; nil means that of Now.
	Elapsed func() time.Duration
	// FlushAge is the age at which a memtable is flushed. Zero means the default.
	FlushAge time.Duration

	// ChooseLayout returns the layout of a table of n fingerprints if the database's parameters do
	// not fix it; nil means table.ChooseLayout.
	ChooseLayout func(n int64) table.Layout
	// MaxTableDocs limits the documents of a table. Zero, or more than the format allows, means the
	// limit of the format.
	MaxTableDocs int64
	// IndexMemory limits the memory of the indexes of small tables. Zero means the default.
	IndexMemory int64
	// Policy is the policy of compaction, except for values that the store sets; MergeSlots is the
	// number of merges of any size that may run at a time. Zero values mean the defaults.
	Policy     compaction.Options
	MergeSlots int
}

// The kinds of an event.
const (
	EventFlush   = "flush"
	EventCompact = "compact"
	EventStall   = "stall"
	EventRecover = "recover"
	EventClean   = "clean"
	EventError   = "error"
)

// An Event is engine.Event.
type Event struct {
	Kind       string
	Tables     []uint64
	Output     uint64
	Reason     compaction.Reason
	Docs       int
	InputBytes int64
	Bytes      int64
	Duration   time.Duration
	Files      []string
	Err        error
}

// Default values of options.
const (
	defaultMemory    = 1 << 30
	defaultMemtable  = 16 << 20
	defaultMaxTable  = 4 << 30
	defaultCloseWait = 200 * time.Millisecond
	defaultFlushAge  = time.Hour // see ageLocked
	defaultShingle   = 3
	defaultGram      = 5 // characters
	defaultSketch    = 32

	soleSketch, soleMinJaccard = 128, 0.65 // without texts, sketches decide: a standard error of 0.03 instead of 0.07

	cacheShare, resultsShare = 64, 4
	leastCache, mostCache    = 8 << 20, 256 << 20
)

// withDefaults returns the options with defaults for everything that Open needs. Parameters that
// are not set stay unset: an existing database has its own.
func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Disk
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Cache == 0 {
		o.Cache = defaultCache(vfs.Memory(), o.Memory)
	}
	if o.MemtableBytes <= 0 {
		o.MemtableBytes = defaultMemtable
	}
	if o.MaxTableBytes <= 0 {
		o.MaxTableBytes = defaultMaxTable
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// defaultCache returns the default of Cache on a machine with n bytes of memory, 0 if unknown, if
// results may occupy some memory. The garbage collector may let a full cache occupy twice its size.
func defaultCache(n, results int64) int64 {
	return min(max(n/cacheShare, leastCache), mostCache, results/resultsShare)
}

// params returns the parameters of a new database with these options.
func (o Options) params() (table.Params, error) {
	if o.Shingle < 0 || o.Shingle > table.MaxShingle || o.Sketch < 0 || o.Sketch > table.MaxSketch {
		return table.Params{}, fmt.Errorf("shingles of %d words, sketches of %d hashes: %w", o.Shingle, o.Sketch, files.ErrInvalid)
	}
	spec, err := o.Features.Canonical()
	if err != nil {
		return table.Params{}, fmt.Errorf("%w: %w", err, files.ErrInvalid)
	}
	p := table.Params{
		Tokenizer: uint32(spec.Version()), Hash: token.HashVersion, Shingle: shingleOf(o.Shingle, spec), Features: spec.String(),
		Layout: table.LayoutBySize, StoreText: !o.NoText, Sets: o.Sets, Index: o.Index,
	}
	if p.Words, err = wordsOf(o.Bits); err != nil {
		return p, err
	}
	if !o.NoSketch {
		p.Sketch, p.MinJaccard = uint32(cmp.Or(o.Sketch, defaultSketch)), o.MinJaccard
		if o.NoText {
			p.Sketch, p.MinJaccard = uint32(cmp.Or(o.Sketch, soleSketch)), cmp.Or(o.MinJaccard, soleMinJaccard)
		}
	}
	if o.Layout != "" {
		l, err := parseLayout(o.Layout)
		if err != nil {
			return p, err
		}
		p.Layout = l
	}
	if err := p.ForTable(0).Validate(); err != nil {
		return p, fmt.Errorf("%w: %w", err, files.ErrInvalid)
	}
	return p, nil
}

// wordsOf returns table.Params.Words for fingerprints of a number of bits; 0 means 64.
func wordsOf(bits int) (uint32, error) {
	if bits%base.FingerprintBits != 0 || bits < 0 || bits > base.FingerprintBits*table.MaxWords {
		return 0, fmt.Errorf("fingerprints of %d bits: want a multiple of 64 up to %d: %w", bits, base.FingerprintBits*table.MaxWords, files.ErrInvalid)
	}
	if bits <= base.FingerprintBits {
		return 0, nil
	}
	return uint32(bits / base.FingerprintBits), nil
}

// shingleOf returns the length of shingles if the options say k.
func shingleOf(k int, s features.Spec) uint32 {
	switch s.Unit {
	case features.Set, features.Given, features.Own:
		return 1
	case features.Chars:
		return uint32(cmp.Or(k, defaultGram))
	}
	return uint32(cmp.Or(k, defaultShingle))
}

// checkFeatures applies the features of the options to want.
func (o Options) checkFeatures(want *table.Params) error {
	have, err := want.Spec()
	if err != nil {
		return err
	}
	if err := want.NeedCompute(); err != nil {
		return fmt.Errorf("a database with %w: %w", err, files.ErrParams)
	}
	if _, err := o.Features.Canonical(); err != nil {
		return fmt.Errorf("%w: %w", err, files.ErrInvalid)
	}
	spec, err := have.Override(o.Features).Canonical()
	if err != nil { // the options contradict the features of the database
		return fmt.Errorf("a database with features of %s: %w: %w", cmp.Or(have.Describe(), string(features.Words)), err, files.ErrParams)
	}
	if want.Features = spec.String(); spec.Version() != have.Version() {
		want.Tokenizer = uint32(spec.Version())
	}
	if o.Shingle != 0 && shingleOf(2, spec) != 1 {
		want.Shingle = uint32(o.Shingle)
	}
	return nil
}

// parseLayout parses the output of table.Layout.String. An unknown layout is ErrInvalid.
func parseLayout(s string) (table.Layout, error) {
	if s == table.LayoutBySize.String() {
		return table.LayoutBySize, nil
	}
	l, err := table.ParseLayout(s)
	if err != nil {
		return l, fmt.Errorf("layout %q: %w: %w", s, err, files.ErrInvalid)
	}
	return l, nil
}

// check compares the options that are set with the parameters of the database at path. It returns
// ErrParams if they differ.
func (o Options) check(path string, have table.Params) error {
	want := have
	if err := o.checkFeatures(&want); err != nil {
		return err
	}
	if o.Layout != "" {
		l, err := parseLayout(o.Layout)
		if err != nil {
			return err
		}
		want.Layout = l
	}
	if o.Bits != 0 {
		words, err := wordsOf(o.Bits)
		if err != nil {
			return err
		}
		want.Words = words
	}
	if o.NoText {
		want.StoreText = false
	}
	want.Sets, want.Index = want.Sets || o.Sets, cmp.Or(o.Index, want.Index)
	if o.NoSketch { // it has precedence, as at creation
		want.Sketch, want.MinJaccard = 0, 0
	} else {
		want.Sketch, want.MinJaccard = cmp.Or(uint32(o.Sketch), want.Sketch), cmp.Or(o.MinJaccard, want.MinJaccard)
	}
	if diff := have.Diff(want); diff != "" {
		return fmt.Errorf("%s was created with %s: %w", path, diff, files.ErrParams)
	}
	return nil
}

// checkTable is check for a table file, which has no time to live that could be changed.
func (o Options) checkTable(path string, have table.Params) error {
	if err := o.check(path, have); err != nil || o.TTL <= 0 {
		return err
	}
	return fmt.Errorf("%s is a table, whose documents do not expire at an age of %v: %w", path, o.TTL, files.ErrParams)
}
