package dedup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
)

// readReplay reads the audit of --replay, and completes the flags by what it says.
func (d *job) readReplay() (err error) {
	path := d.c.Replay
	if path == "" {
		return nil
	}
	f, err := input.OpenContent(d.a.Context(), path, input.UTF8)
	if err != nil {
		return err
	}
	defer f.Close()
	d.replay = &replay{}
	rows := json.NewDecoder(f)
	if err := d.replay.readHead(rows); err != nil {
		return fmt.Errorf("--replay %s: %w", path, err)
	}
	by := &d.replay.by
	if d.c.Jaccard == nil {
		d.c.Jaccard = new(app.Share(*by.Jaccard))
	}
	if float64(*d.c.Jaccard) < *by.Jaccard {
		return fmt.Errorf("--replay %s: it has the pairs from %g on, and not those that --jaccard %g adds", path, *by.Jaccard, *d.c.Jaccard)
	}
	if d.c.Keep.all == nil {
		if err := d.c.Keep.UnmarshalText([]byte(by.Keep)); err != nil {
			return fmt.Errorf("--replay %s: %w", path, err)
		}
	}
	if err := d.replay.readPairs(d, rows); err != nil {
		return fmt.Errorf("--replay %s: %w", path, err)
	}
	return nil
}

// errNoAudit refuses a file that is no audit of dedup.
var errNoAudit = errors.New("it is no audit that dedup has written")

// readHead reads the first line.
func (r *replay) readHead(rows *json.Decoder) error {
	var head struct {
		app.AuditHead
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := rows.Decode(&head); err != nil || head.Version == "" {
		return errNoAudit
	}
	if err := json.Unmarshal(head.Parameters, &r.by); err != nil {
		return errNoAudit
	}
	r.head = head.AuditHead
	switch {
	case r.by.Near != nil:
		return errors.New("it is of a run with --near: it has the distances of documents to their keepers, not those to all others, by which another choice would decide; dedup --near again takes little longer than reading")
	case r.by.Jaccard == nil:
		return errors.New("it is of a run without --jaccard: it has not all similarities of texts")
	case r.by.Decisions != nil:
		return errors.New("it is of a run with --decisions: it has no pairs that they keep apart; the audit of a run without them is decided again with --replay AUDIT --decisions FILE")
	case r.by.Allowed > 0:
		return errors.New("it is of a run --against a database with pairs that ALLOW keeps apart, and does not have these")
	case r.head.Replay == nil:
		return errors.New("it does not record all pairs, as they or the documents were too many: with --audit-pairs the run that writes it records them")
	case r.head.Replay.Documents < 0 || r.head.Replay.Documents > setjoin.MaxSets ||
		r.head.Replay.Known < 0 || r.head.Replay.Known > setjoin.MaxSets-r.head.Replay.Documents:
		return errNoAudit
	}
	return nil
}

// errRows refuses an audit from which something is missing.
var errRows = errors.New("the audit is damaged: its rows are not those that its first line announces")

// documentBytes is what a replay takes for each document: its equals, its keeper and its score. The
// number of documents is not compared with the inputs until the audit is read.
const documentBytes = 4 + 4 + 8

func (r *replay) readPairs(d *job, rows *json.Decoder) error {
	documents := r.head.Replay.Known + r.head.Replay.Documents
	if documents*documentBytes > int64(d.c.Memory) {
		return fmt.Errorf("it is of %s: that takes more than --memory %s", quantity.Count(documents, "document"), quantity.Bytes(int64(d.c.Memory)))
	}
	g := &setjoin.Graph{Same: make([]uint32, documents)}
	for n := range g.Same {
		g.Same[n] = uint32(n)
	}
	if err := r.readRows(rows, g, float64(*d.c.Jaccard)); err != nil {
		return err
	}
	r.graph = g
	return g.Complete(d.a.Context())
}

// readRows reads the pairs of a threshold, and groups of equal documents, into a graph in which all
// documents are apart.
func (r *replay) readRows(rows *json.Decoder, g *setjoin.Graph, t float64) error {
	// least returns the least of a group, whose documents refer to it, or to one that does. It
	// halves the way there, so that a long chain of equals is not walked for each of its rows.
	least := func(n uint32) uint32 {
		for g.Same[n] != n {
			g.Same[n] = g.Same[g.Same[n]]
			n = g.Same[n]
		}
		return n
	}
	documents := float64(len(g.Same))
	with, pairs := int64(0), int64(0)
	for {
		var row struct {
			Number *float64
			Like   [][2]float64
		}
		if err := rows.Decode(&row); err == io.EOF {
			break
		} else if err != nil {
			return errors.Join(errRows, err)
		}
		if row.Number == nil {
			continue
		}
		with++
		pairs += int64(len(row.Like))
		for _, like := range row.Like {
			for _, n := range [2]float64{*row.Number, like[0]} {
				if !(n >= 0 && n < documents && n == math.Trunc(n)) {
					return errRows
				}
			}
			a, b, score := uint32(*row.Number), uint32(like[0]), like[1]
			switch {
			case a == b || !(score > 0 && score <= 1):
				return errRows
			case score == 1:
				a, b = least(a), least(b)
				g.Same[max(a, b)] = min(a, b)
			case score >= t:
				g.Pairs = append(g.Pairs, setjoin.Pair{A: a, B: b, Score: score})
			}
		}
	}
	if with != r.head.Replay.Rows || pairs != r.head.Replay.Pairs {
		return errRows
	}
	for n := range g.Same {
		g.Same[n] = g.Same[g.Same[n]] // what it refers to is less, and refers to the least already
	}
	return nil
}

// again decides by the audit. What is known, and the inputs, are read for their numbers of
// documents, the values that --keep compares, and the ids that --decisions are about.
func (d *job) again() error {
	r := d.replay
	if err := d.readKnown(func(*input.Record) error { return nil }); err != nil {
		return err
	}
	if err := d.readAll(func(*input.Record) error { return nil }); err != nil {
		return err
	}
	if err := d.sameInputs(); err != nil {
		return fmt.Errorf("--replay %s: %w", d.c.Replay, err)
	}
	d.empty = r.head.Replay.Empty
	order, err := d.keep.order(d.a.Context(), d.read)
	if err != nil {
		return err
	}
	order = d.decided.reorder(d.orderKnown(order), d.known+d.read)
	stars, err := r.graph.Stars(d.a.Context(), setjoin.Options{Order: order, Known: int(d.known), Accept: d.decided.acceptToo(nil)})
	if err != nil {
		return err
	}
	d.out.keeper, d.out.score = stars.Keeper, stars.Score
	if most := d.mostPairs(d.documents()); most > 0 && len(r.graph.Pairs) <= most {
		d.pairs = r.graph
	}
	return d.out.numberClusters(d.a.Context())
}

// sameInputs checks that the inputs are those of the run that has written the audit, and are read
// in the same way.
func (d *job) sameInputs() error {
	p, was := d.parameters(), d.replay.by
	is := replayed{Shingle: p.Shingle, Features: p.Features, Reading: p.Reading}
	if is.Shingle != was.Shingle || is.Features != was.Features || is.Reading != was.Reading {
		say := func(p replayed) string {
			return strings.TrimSpace(p.Shingle + " " + p.Features + " " + p.Reading)
		}
		return fmt.Errorf("it is of a run that compared %s, and this one reads %s: give the flags that were given then", say(was), say(is))
	}
	if err := d.sameKnown(); err != nil {
		return err
	}
	inputs, err := d.digests.wait()
	if err != nil {
		return err
	}
	if len(inputs) != len(d.replay.head.Inputs) {
		return fmt.Errorf("it is of %d files, not of %d", len(d.replay.head.Inputs), len(inputs))
	}
	for i, in := range inputs {
		was := d.replay.head.Inputs[i]
		switch {
		case in.XXH3 == nil || was.XXH3 == nil:
			return errors.New("it has no digests of the inputs")
		case *in.XXH3 != *was.XXH3:
			return fmt.Errorf("%s is not what %s was then: its digest is another", in.File, was.File)
		}
	}
	if d.read != d.replay.head.Replay.Documents {
		return fmt.Errorf("the inputs have %d documents, not %d", d.read, d.replay.head.Replay.Documents)
	}
	return nil
}

// sameKnown checks that the sources of --against are those of the run that has written the audit.
func (d *job) sameKnown() error {
	is, was := d.auditKnown(), d.replay.head.Against
	if len(is) != len(was) {
		var names []string
		for _, in := range was {
			names = append(names, "--against "+in.File)
		}
		return fmt.Errorf("it is of a run with %d sources of --against, and this one has %d: give those that were given then: %s", len(was), len(is), cmp.Or(strings.Join(names, " "), "none"))
	}
	for i, in := range is {
		if was[i].XXH3 == nil || *in.XXH3 != *was[i].XXH3 {
			return fmt.Errorf("--against %s does not have the documents that %s had then, or has them in another order", in.File, was[i].File)
		}
	}
	if d.known != d.replay.head.Replay.Known {
		return errNoAudit
	}
	return nil
}
