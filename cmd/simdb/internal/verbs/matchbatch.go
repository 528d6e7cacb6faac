package verbs

import (
	"context"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// A batch of searches takes a fraction of the time of single ones, so records are collected and
// decided together: those of a pipe until nothing more has been read, and then at once.
// The first batch of texts, which take longer than fingerprints, is small, so that
// its lines are written soon; each one after it may be four times as large. Comparing texts as they
// are takes so long that batches remain small.
const (
	heldCount = 1 << 18  // most records of a batch
	heldBytes = 64 << 20 // bytes of records after which a batch is decided, or a share of --memory
	heldShare = 16
	heldFirst = 256 << 10
	heldSlow  = 16 << 10  // bytes of the first batch that is compared as it is, and
	heldSlows = 256 << 10 // of later ones
	heldMore  = 4
)

// heldLines are records that are not decided yet.
type heldLines struct {
	raw   []byte               // one after the other
	ends  []int                // of each line
	most  int                  // bytes of records after which they are decided
	limit int                  // of most
	fps   []engine.Fingerprint // of the lines that have one, or
	docs  []engine.Doc         // the texts of all lines
	line  []int                // of each of these
	known []bool               // of each line: something in the database is like it
	lines []aLine              // each line without raw, where it matters what it is like
	like  []engine.Match       // of those, what they are like

	issues []heldIssue // that the audit does not have yet, in order
}

// heldIssue is what is wrong with a line that comes before line at of the batch.
type heldIssue struct {
	at int
	is input.Issue
}

// newHeldLines returns room for lines that are compared by fingerprints, by texts as they are, or
// by the shingles of texts, in a run of so much memory.
func newHeldLines(fingerprints, asTheyAre bool, memory int) *heldLines {
	limit := min(heldBytes, memory/heldShare)
	switch {
	case fingerprints:
		return &heldLines{most: limit, limit: limit}
	case asTheyAre:
		return &heldLines{most: heldSlow, limit: heldSlows}
	}
	return &heldLines{most: min(heldFirst, limit), limit: limit}
}

// hold keeps a record and reports whether the batch is full. Records in allowed pairs, which are
// few, are decided at once.
func (t *matching) hold(ctx context.Context, doc engine.Doc, l aLine) (full bool, err error) {
	h := t.held
	var m engine.Match
	known := false
	if t.inPairs[doc.ID] {
		if m, known, err = t.knownBeside(ctx, &doc); err != nil {
			return false, err
		}
	} else if t.c.Near == nil {
		h.docs, h.line = append(h.docs, engine.Doc{Text: doc.Text}), append(h.line, len(h.ends))
	} else if fp, ok := t.fingerprint(&doc); ok {
		h.fps, h.line = append(h.fps, fp), append(h.line, len(h.ends))
	}
	h.raw = append(h.raw, l.raw...)
	if t.names() {
		l.raw = nil
		h.lines, h.like = append(h.lines, l), append(h.like, m)
	}
	h.ends, h.known = append(h.ends, len(h.raw)), append(h.known, known)
	return len(h.ends) >= heldCount || len(h.raw) >= h.most, nil
}

// release decides the batch and writes what is to be written of its records. It does nothing with
// --add.
func (t *matching) release(ctx context.Context, in input.Source) error {
	h := t.held
	if h == nil {
		return nil
	}
	n, failed := t.decideHeld(ctx)
	ends := h.ends
	if n < len(h.line) {
		ends = ends[:h.line[n]] // the lines before that of the error
	}
	start := 0
	for i, end := range ends {
		if err := t.auditIssues(i); err != nil {
			return err
		}
		var l aLine
		var m engine.Match
		if t.names() {
			l, m = h.lines[i], h.like[i]
		}
		l.raw = h.raw[start:end:end]
		if err := t.decided(in, l, m, h.known[i]); err != nil {
			return err
		}
		start = end
	}
	if failed != nil {
		return failed
	}
	if err := t.auditIssues(len(ends)); err != nil {
		return err
	}
	clear(h.lines)
	clear(h.like)
	clear(h.docs)
	*h = heldLines{
		raw: h.raw[:0], ends: h.ends[:0], most: min(heldMore*h.most, h.limit), limit: h.limit, fps: h.fps[:0], docs: h.docs[:0], line: h.line[:0],
		known: h.known[:0], lines: h.lines[:0], like: h.like[:0],
	}
	return nil
}

// auditIssues gives the audit what is wrong with the lines before a line of the batch.
func (t *matching) auditIssues(line int) error {
	h := t.held
	for len(h.issues) > 0 && h.issues[0].at <= line {
		if err := t.audit.issue(&h.issues[0].is); err != nil {
			return err
		}
		h.issues = h.issues[1:]
	}
	return nil
}

// decideHeld decides the lines of the batch, and with an error the first n of those that have a
// fingerprint, or text: in the order in which they were read.
func (t *matching) decideHeld(ctx context.Context) (n int, err error) {
	h := t.held
	decide := t.decideTexts
	if t.c.Near != nil {
		decide = t.decideNear
	}
	if err = decide(ctx); err == nil {
		return len(h.line), nil
	}
	for i, line := range h.line { // a batch does not say which line has the error
		var doc engine.Doc
		if t.c.Near != nil {
			doc.Fingerprint = &h.fps[i]
		} else {
			doc = h.docs[i]
		}
		m, is, err := t.any(ctx, doc)
		if err != nil {
			return i, err
		}
		t.take(line, m, is)
	}
	return len(h.line), nil
}

// take notes whether a line of the batch is known, and what it is like.
func (t *matching) take(line int, m engine.Match, known bool) {
	if t.held.known[line] = known; known && t.names() {
		t.held.like[line] = m
	}
}

// decideTexts decides the lines that are compared by texts.
func (t *matching) decideTexts(ctx context.Context) error {
	h, by := t.held, t.c.Criterion(!t.c.NoVerify)
	if t.names() {
		return t.name(ctx, h.docs, h.line, by)
	}
	s, err := t.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	known, err := s.Any(ctx, h.docs, by)
	for i, is := range known {
		h.known[h.line[i]] = is
	}
	return err
}

// name notes which of some documents, each of a line, are known, and what they are like.
func (t *matching) name(ctx context.Context, docs []engine.Doc, line []int, by engine.Criterion) error {
	s, err := t.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	for _, at := range line {
		t.held.known[at] = false
	}
	matches, err := s.Best(ctx, docs, by)
	for _, m := range matches {
		t.take(line[m.Query], m.Match, true)
	}
	return err
}

// decideNear decides the lines that are compared by fingerprints.
func (t *matching) decideNear(ctx context.Context) error {
	h := t.held
	s, err := t.db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	known, err := s.AnyNear(ctx, h.fps, int(*t.c.Near))
	if err != nil {
		return err
	}
	var docs []engine.Doc
	var line []int
	for i, is := range known {
		if h.known[h.line[i]] = is; is {
			docs, line = append(docs, engine.Doc{Fingerprint: &h.fps[i]}), append(line, h.line[i])
		}
	}
	if !t.names() {
		return nil
	}
	return t.name(ctx, docs, line, t.c.Criterion(!t.c.NoVerify))
}

// holdRecords decides records that have been read.
func (t *matching) holdRecords(ctx context.Context, in input.Source, items []readItem) error {
	for i := range items {
		t.read++
		full, err := t.hold(ctx, items[i].doc, items[i].line)
		if err == nil && full {
			err = t.release(ctx, in)
		}
		if err != nil {
			return err
		}
	}
	return t.release(ctx, in)
}
