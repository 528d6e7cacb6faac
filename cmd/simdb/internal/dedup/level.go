package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/units"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
)

// minUnitWords is --min-words without the flag: shorter lines, such as headings and
// closing brackets, come again by chance, and mean something where they stand.
const minUnitWords = 10

// validateLevel checks the flags of a run with --level.
func (c *Command) validateLevel() error {
	f := c.FeatureFlags
	switch {
	case c.Near != nil || c.Jaccard != nil || c.ofTexts() || c.Verify != nil:
		return fmt.Errorf("--level %s compares whole %ss, which are equal or not: --near, --verify, --jaccard, --levenshtein and --cosine are for documents", c.Level, c.Level)
	case c.Replay != "" || c.AuditPairs:
		return fmt.Errorf("--replay and --audit-pairs are for similar documents, not for equal %ss", c.Level)
	case c.Keep.String() != "first":
		return fmt.Errorf("--keep %s: with --level the first %s is kept", c.Keep, c.Level)
	case len(c.Against) > 0 || c.Clusters != "" || c.Decisions != "" || c.Columns != nil:
		return errors.New("--against, --clusters, --columns and --decisions are for documents, without --level")
	case f.Shingle.N != 0 || f.RequireWord != "" || f.Field != nil || f.SetField != "":
		return fmt.Errorf("--level %s compares whole %ss of one text: --shingle, --require-word, --field and --set-field have no meaning", c.Level, c.Level)
	case c.WholeFiles:
		return errors.New("--files: the output is a list of paths, which has no texts that --level could cut")
	case c.MinCount < 2 || c.MinCount > math.MaxInt32:
		return fmt.Errorf("--min-count %d: what comes again comes 2 times or more", c.MinCount)
	}
	return nil
}

// level is a run with --level: the first pass finds the units that have come before, the second
// one copies documents without them.
type level struct {
	*job
	found  *units.Repeats
	places *places // nil: no audit is written
	audit  *audit
	spans  []units.Span // of the last text
	gone   []uint32     // units of the last document

	counts  units.Counts
	removed int64 // units
	bytes   int64 // of text
	removes int64 // bytes of them, with their line ends
	changed int64 // documents that are copied without some units
	emptied int64 // documents without any unit that stays
}

// workLevel reads, finds what comes again, and writes.
func (d *job) workLevel(dir string) (err error) {
	l := &level{job: d, found: units.NewRepeats(int64(d.c.Memory), func() (*os.File, error) { return app.TempFile(dir) }, d.c.MinCount)}
	d.level = l
	defer func() { err = errors.Join(err, l.found.Close(), l.places.close()) }()
	if d.auditTo != nil {
		if l.places, err = newPlaces(dir); err != nil {
			return err
		}
	}
	if err := l.read(); err != nil {
		return err
	}
	if err := l.found.Find(d.a.Context()); err != nil {
		return err
	}
	return l.write()
}

// read is the first pass.
func (l *level) read() error {
	x := units.NewExtractor(l.a.Context(), units.Options{
		Level: l.c.Level, MinWords: cmp.Or(int(l.c.MinWords), minUnitWords), Symbols: l.features.Symbols, Normalize: features.Spec(l.features).Normalizer,
	}, l.found)
	defer x.Stop()
	err := l.each(readStage, func(_ int, in input.Source) error { return input.CanCut(in) }, func(in input.Source, rec *input.Record) error {
		if l.job.read == math.MaxUint32-1 {
			return errors.New("there are too many documents")
		}
		if err := input.CanCut(in); err != nil { // which a record may show
			return fmt.Errorf("%s:%d: %w", rec.File, rec.Pos, err)
		}
		l.rejects.Note(in, rec)
		if strings.TrimSpace(rec.Doc.Text) == "" {
			if l.empty++; rec.Doc.Fingerprint != nil {
				return corpus.ErrNoTexts
			}
		}
		l.job.read++
		l.bytes += int64(len(rec.Doc.Text))
		return errors.Join(l.places.add(rec), x.Add(rec.Doc.Text))
	}, l.rejects.Add)
	if err == nil {
		err = l.damage()
	}
	if err == nil {
		err = l.rejects.Nothing()
	}
	if err == nil {
		err = x.Finish()
	}
	l.counts = x.Counts
	return err
}

// write is the second pass. Either all outputs are published or none; with --dry-run there are
// none.
func (l *level) write() (err error) {
	if l.audit, err = l.newLevelAudit(); err != nil {
		return err
	}
	next, stop := iter.Pull2(l.found.All())
	defer stop()
	out := &copies{job: l.job}
	begin := out.begin
	if l.c.DryRun {
		begin = func(int, input.Source) error { return nil }
	}
	var n int64
	rep, err, left := next()
	each := l.each("write", begin, func(in input.Source, rec *input.Record) error {
		var mine []units.Repeat
		for ; left && err == nil && int64(rep.At.Doc()) == n; rep, err, left = next() {
			mine = append(mine, rep)
		}
		if n++; err != nil {
			return err
		}
		raw, err := l.cut(in, rec, mine)
		if err != nil || raw == nil || l.c.DryRun {
			return err
		}
		return out.to.Copy(in, raw)
	}, l.audit.issue)
	if e := out.close(); each == nil {
		each = e
	}
	if each != nil || l.c.DryRun {
		return each
	}
	if n != l.job.read || left || len(l.failed) > 0 {
		return app.ErrChanged
	}
	return l.publish()
}

// cut returns a record without the units that come again, nil if nothing of it is left.
func (l *level) cut(in input.Source, rec *input.Record, repeats []units.Repeat) ([]byte, error) {
	l.kept++
	if len(repeats) == 0 {
		return rec.Raw, nil
	}
	text := rec.Doc.Text
	l.spans, l.gone = units.Split(l.spans[:0], text, l.c.Level), l.gone[:0]
	for _, r := range repeats {
		if int(r.At.Unit()) >= len(l.spans) {
			return nil, app.ErrChanged
		}
		l.gone = append(l.gone, r.At.Unit())
		if err := l.auditUnit(rec, r); err != nil {
			return nil, err
		}
	}
	l.removed += int64(len(repeats))
	keep := units.Keep(text, l.spans, l.gone)
	if keep == nil {
		l.kept--
		l.emptied++
		l.removes += int64(len(text))
		return nil, l.auditEmptied(rec)
	}
	l.changed++
	left := 0
	spans := make([]input.Span, len(keep))
	for i, k := range keep {
		spans[i] = input.Span(k)
		left += k.To - k.From
	}
	l.removes += int64(len(text) - left)
	return input.CutText(in, rec, spans), nil
}

// summary prints what was done, after what was read.
func (l *level) summary() {
	unit := string(l.c.Level)
	note := unit + "s"
	if l.counts.Short > 0 {
		note += fmt.Sprintf("; %s of them have fewer than %s and stay", quantity.Number(l.counts.Short), quantity.Count(int64(cmp.Or(int(l.c.MinWords), minUnitWords)), "word"))
	}
	l.row(unit+"s", l.counts.Units, "", note)
	first := unit + "s that have come before"
	if l.c.MinCount > 2 {
		first = fmt.Sprintf("%ss that come %d times or more, but for the first", unit, l.c.MinCount)
	}
	if path := l.c.auditPath(); path != "" {
		first += "; where each stood, and the first of its kind, " + areAt(path)
	}
	l.row("repeated", l.removed, percent(l.removed, l.counts.Units), first)
	l.row("bytes", l.removes, percent(l.removes, l.bytes), fmt.Sprintf("of %s of text are in them and the line ends after them", quantity.Count(l.bytes, "byte")))
	l.row("changed", l.changed, percent(l.changed, l.job.read), "documents have lost a part of their text")
	l.row("dropped", l.emptied, percent(l.emptied, l.job.read), "documents had nothing else, and are left out")
	l.row("kept", l.kept, percent(l.kept, l.job.read), "documents "+l.whereKept())
}
