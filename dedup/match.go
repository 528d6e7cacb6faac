package dedup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// MatchOptions are the options of a Match.
type MatchOptions struct {
	By   engine.Criterion
	Rule *PairRule // replaces By, as in a Job; the document that is looked up is b

	Agree, Distinct     []string        // as in a Job, but not Recurring
	Compared            inputs.Compared // what is not compared, although the database stores it: Ignore and IgnoreCommon
	Across, WithinField string          // likewise, without "file" and "folder", which a database does not know

	Loaded bool  // LoadFiles made the database, reading with the same options Read
	Seen   bool  // By is Contains, and all documents together contain the text: engine.SearchOptions.Together
	Add    bool  // store the new documents, so that later documents are also compared with them
	Renew  bool  // with Add: engine.SearchOptions.Renew
	Named  bool  // pass Known the stored document that a document resembles most
	Memory int64 // bytes; a part of it is for the documents of a lookup

	Read    records.Options
	Rejects *inputs.Rejects               // receives input that is not a record; if nil, such input is an error
	Check   func(in records.Source) error // refuses an input; or nil

	// Prepare, if not nil, completes a record before it is looked up, or returns why it is
	// unusable.
	Prepare func(rec *records.Record) (reason string)

	// Known receives the documents that are not new, and Rejected the input that is not a record,
	// both in the order of the input. Flush is called after each lot of documents. Each may be
	// nil.
	Known    func(rec *records.Record, n engine.Novelty) error
	Rejected func(is *records.Issue) error
	Flush    func() error

	// Copies of the new documents (with Invert: of the known documents) go to files in the folder
	// Output if its name ends in a slash, and otherwise to the output that Open opens. If Open is
	// nil, nothing is copied.
	Open   func(kind inputs.OutputKind) (MatchOutput, error)
	Output string
	Invert bool
	Null   bool // end paths with a zero byte
}

// MatchOutput is an output for copies. Close completes it, or discards it after a failure, and
// returns the first error.
type MatchOutput interface {
	io.Writer
	Close(failure error) error
}

// Documents are read ahead while others are looked up, up to a number of bytes. The first lot is
// a record or two, and later lots grow until lookups keep up with reading. So lines of a pipe are
// decided as they arrive, and the first lines of a file are written early.
const (
	matchBytes = 32 << 20  // or matchShare of the memory
	matchShare = 16        // share of the memory
	matchAdded = 8 << 20   // with Add: a lot is stored before its lines are written
	matchSlow  = 256 << 10 // for criteria that compare whole texts, which is slow
	matchEach  = 256       // bytes per document in addition to its texts
)

// A Match finds the documents of inputs that resemble no document of a database.
type Match struct {
	Read    int64 // documents
	Fresh   int64 // documents that are new; with Add they are stored
	Renewed int64 // part of Fresh: they replace a document with the same ID
	Expired int64 // neither new nor known, as they are older than the time to live
	Kept    bool  // lines that were written before a failure are in the output
	Scans   bool  // with Seen and Add: the database has no index of containment, so each document is compared with all stored texts, while other writers wait

	o       MatchOptions
	db      *engine.DB
	near    bool
	rule    *rulejoin.Search // or nil
	l       lookup
	folder  *inputs.OutFolder   // or nil
	allowed map[string][]string // by ID, for IDs in allowed pairs: the IDs it is paired with
	work    engine.QueryStats   // of the current input
	raw     []byte              // copies of the most recent records
	out     records.Copier
	lines   *bufio.Writer // buffers out on standard output, else nil
}

// NewMatch opens a single input. If there are several, it looks at the beginning of each and
// checks that an output can hold copies of their records. Close must be called in any case.
func NewMatch(ctx context.Context, env *inputs.Env, src *inputs.Sources, db *engine.DB, o MatchOptions) (*Match, error) {
	m := &Match{o: o, db: db, Scans: o.Seen && o.Add && !db.Options().Containment}
	if err := m.settle(ctx, env, src); err != nil {
		return m, err
	}
	o = m.o
	m.near = m.o.By.Kind() == "near"
	m.l = lookup{env: env, sources: src, reading: inputs.Reading{Stage: "match", Options: o.Read}, refuse: o.Check, arrive: true, issues: true, stores: o.Add, item: m.item}
	switch kind := m.o.By.Kind(); {
	case kind == "levenshtein" || kind == "cosine":
		m.l.bytes = matchSlow
	case o.Add:
		m.l.bytes = matchAdded
	default:
		m.l.bytes = min(matchBytes, int(o.Memory/matchShare))
	}
	m.l.most = m.l.bytes / matchEach
	err := m.readAllowed()
	if o.Seen {
		m.allowed = nil // no pairs match
	}
	if err == nil {
		err = m.prepare(ctx)
	}
	return m, err
}

// Close closes an input that was not read. After a failure it removes the folder if it was created
// but not used.
func (m *Match) Close(failure error) {
	if m.l.first != nil {
		m.l.first.Close()
	}
	if failure != nil && m.folder != nil {
		m.folder.Undo()
	}
}

// readAllowed reads the allowed pairs of the database.
func (m *Match) readAllowed() error {
	s, err := m.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	m.allowed = map[string][]string{}
	for p := range s.Allowed() {
		m.allowed[p.A], m.allowed[p.B] = append(m.allowed[p.A], p.B), append(m.allowed[p.B], p.A)
	}
	return nil
}

// item makes the record hold the data that is compared, stored or copied.
func (m *Match) item(_ context.Context, in records.Source, rec *records.Record) (it lookupItem, err error) {
	if m.o.Prepare != nil {
		if reason := m.o.Prepare(rec); reason != "" {
			return it, records.NewIssue(in, rec, reason)
		}
	}
	it.size = matchEach + len(rec.Raw)
	if m.o.Open != nil {
		if len(rec.Raw) > cap(m.raw)-len(m.raw) {
			m.raw = make([]byte, 0, max(len(rec.Raw), 64<<10))
		}
		from := len(m.raw)
		m.raw = append(m.raw, rec.Raw...)
		rec.Raw = m.raw[from:len(m.raw):len(m.raw)]
	}
	doc := &rec.Doc
	if !m.o.Add && m.rule == nil {
		doc.Fields = nil
	}
	if m.near && !m.o.Add {
		if doc.Fingerprints == nil {
			if fp, _ := m.db.Hash(doc.Text); fp != nil {
				doc.Fingerprints = []engine.Fingerprint{fp}
			}
		}
		doc.Text = ""
	}
	it.rec, it.id, it.size = rec, doc.ID, it.size+len(doc.Text)+len(doc.Fields)
	return it, nil
}

// records decides all records of an input, and writes the resulting outputs.
func (m *Match) records(ctx context.Context, in records.Source) error {
	work := &m.work
	*work = engine.QueryStats{}
	_, _, contained := containment(m.o.By)
	contained = contained && !m.o.Seen
	begun, before := time.Now(), m.Read
	for b, err := range m.l.lots(ctx, in) {
		if err == nil {
			err = cmp.Or(m.lot(ctx, in, b), m.flush())
		}
		each := work.Probes / max(m.Read-before, 1)
		if contained && each >= setjoin.CrowdedEach && time.Since(begun) >= setjoin.CrowdedAfter {
			crowded(m.l.env, setjoin.Contained)(int(each))
			contained = false
		}
		if err == nil && m.o.Flush != nil {
			err = m.o.Flush()
		}
		if err != nil {
			return err
		}
		m.l.free.Put(b)
	}
	return nil
}

// lot decides the records of a lot, and writes the resulting outputs. Records before an error are
// decided nevertheless.
func (m *Match) lot(ctx context.Context, in records.Source, b *lookupLot) error {
	decide := m.decide
	if m.o.Add {
		decide = m.add
	}
	done, failed := decide(ctx, b)
	for i := range done { // including documents whose lines an output error leaves unwritten
		if b.items[i].rec != nil {
			m.count(&done[i])
		}
	}
	if failed != nil {
		m.Read++ // the document that failed was read too
	}
	for i := range done {
		var err error
		if is, bad := b.items[i].err.(*records.Issue); bad {
			err = m.rejected(in, is)
		} else {
			err = m.decided(in, b.items[i].rec, done[i])
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

func (m *Match) rejected(in records.Source, is *records.Issue) error {
	if m.o.Rejects == nil {
		return is
	}
	err := m.o.Rejects.Add(in, is)
	if m.o.Rejected != nil {
		err = errors.Join(err, m.o.Rejected(is))
	}
	return err
}

func (m *Match) count(n *engine.Novelty) {
	m.Read++
	if n.Stored {
		m.Fresh++
	}
	if n.Replaced {
		m.Renewed++
	}
	if n.Expired {
		m.Expired++
	}
}

// decided writes the outputs of a record. A record that has expired is neither new nor known.
func (m *Match) decided(in records.Source, rec *records.Record, n engine.Novelty) error {
	if m.o.Rejects != nil {
		m.o.Rejects.Note(in, rec)
	}
	if m.o.Loaded {
		n.Match.ID = loadedID(n.Match.ID)
	}
	if !n.Stored && m.o.Known != nil {
		if err := m.o.Known(rec, n); err != nil {
			return err
		}
	}
	if m.o.Open == nil || n.Expired || n.Stored == m.o.Invert {
		return nil
	}
	return m.out.Copy(in, rec.Raw)
}

// add stores the new documents of a lot as one group, and returns the result for each item. After
// an error it returns only the results before the document that failed.
func (m *Match) add(ctx context.Context, b *lookupLot) ([]engine.Novelty, error) {
	addNovel := m.db.AddNovel
	if m.rule != nil {
		addNovel = m.addByRule
	}
	added, err := addNovel(ctx, b.docs, m.o.By, &engine.SearchOptions{Stats: &m.work, Renew: m.o.Renew, Together: m.o.Seen})
	done := make([]engine.Novelty, len(b.items))
	for i, n := range added {
		done[b.at[i]] = n
	}
	if len(added) < len(b.docs) {
		done = done[:b.at[len(added)]]
	}
	return done, err
}

// decide returns, as add does, the results that storing the documents of a lot would have. A
// stored document with the same ID counts as a match like any other.
func (m *Match) decide(ctx context.Context, b *lookupLot) ([]engine.Novelty, error) {
	s, err := m.db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if m.rule != nil {
		return m.decideByRule(ctx, s, b)
	}
	for i := range b.docs {
		b.docs[i].ID = ""
	}
	if m.near {
		b.hash(m.db)
	}
	done := make([]engine.Novelty, len(b.items))
	for i := range done {
		done[i].Stored = true
	}
	failed := m.find(ctx, s, b.docs, b.at, done)
	if failed == nil && len(m.allowed) == 0 {
		return done, nil
	}
	for i, at := range b.at {
		if beside := m.allowed[b.ids[at]]; len(beside) > 0 {
			done[at], err = m.findBeside(ctx, s, b.docs[i], beside)
		} else if failed != nil { // the error does not say which document caused it
			err = m.find(ctx, s, b.docs[i:i+1], b.at[i:i+1], done)
		}
		if err != nil {
			return done[:at], err
		}
	}
	return done, nil
}

// find looks documents up together, and stores each result in done at the document's place.
func (m *Match) find(ctx context.Context, s *engine.Snapshot, docs []engine.Doc, at []int, done []engine.Novelty) error {
	known, best, err := s.Any(ctx, docs, m.o.By, &engine.SearchOptions{Unordered: !m.o.Named || m.near, Stats: &m.work, Together: m.o.Seen})
	if err != nil {
		return err
	}
	if m.o.Named && m.near { // if few of many documents match, naming only these is faster
		var found []engine.Doc
		var places []int
		for i, is := range known {
			if is {
				found, places = append(found, docs[i]), append(places, at[i])
			}
		}
		at = places
		if known, best, err = s.Any(ctx, found, m.o.By, &engine.SearchOptions{Stats: &m.work}); err != nil {
			return err
		}
	}
	for i, is := range known {
		switch {
		case !is:
		case best == nil:
			done[at[i]] = engine.Novelty{}
		default:
			done[at[i]] = engine.Novelty{Match: best[i]}
		}
	}
	return nil
}

// findBeside looks up a document with allowed pairs: it reports whether the database has a
// similar document that is not paired with it, and names the best one.
func (m *Match) findBeside(ctx context.Context, s *engine.Snapshot, doc engine.Doc, beside []string) (engine.Novelty, error) {
	if doc.Text == "" && (doc.Fingerprints == nil || !m.near) {
		return engine.Novelty{Stored: true}, nil // it matches nothing
	}
	for found, err := range s.Search(ctx, doc, m.o.By, &engine.SearchOptions{Stats: &m.work}) {
		if err != nil || !slices.Contains(beside, found.ID) {
			return engine.Novelty{Match: found}, err
		}
	}
	return engine.Novelty{Stored: true}, nil
}
