package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
)

// A forecast comes from a sample of the documents, which is taken from all parts of the files.
// Near- duplicates come into it together or not at all, so that a document has as many as in the
// files: what decides is the least hash of a document's shingles, which similar documents have in
// common. Of a crowd, very many documents with the same one, each document is drawn by itself.
const (
	sampleBytes = 48 << 20 // of documents
	sampleDocs  = 1 << 20  // at most: a small one takes much more memory than it has bytes
	crowd       = 64       // documents with one least hash
)

// draws say which documents samples have: of a share, those whose value is below it. They take 8
// bytes a document, in parts, so that no array has to grow.
type draws struct {
	parts [][]uint64 // until end is called the hashes that were added, then values times 2^53
	n     int        // documents
	least float64    // of the values
}

const (
	drawsPart  = 1 << 16 // documents
	drawsScale = 53      // bits of a value
)

// add adds a document with the least hash of its shingles.
func (d *draws) add(hash uint64) {
	if d.n%drawsPart == 0 {
		d.parts = append(d.parts, make([]uint64, 0, drawsPart))
	}
	last := &d.parts[len(d.parts)-1]
	*last = append(*last, hash)
	d.n++
}

// at returns the value of a document.
func (d *draws) at(i int) float64 {
	return math.Ldexp(float64(d.parts[i/drawsPart][i%drawsPart]), -drawsScale)
}

// end draws, once all documents have been added.
func (d *draws) end() {
	crowds, n, least := d.crowds(), uint64(0), uint64(math.MaxUint64)
	for _, part := range d.parts {
		for i, h := range part {
			n++
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:], h)
			if crowds[h] > crowd {
				binary.LittleEndian.PutUint64(b[8:], n)
			}
			part[i] = xxh3.Hash(b[:]) >> (64 - drawsScale)
			least = min(least, part[i])
		}
	}
	d.least = math.Ldexp(float64(least), -drawsScale)
}

// crowds returns how many documents have each hash that a crowd has, and of some others. Most are
// ruled out by counters, a byte for two to four documents, which several hashes share.
func (d *draws) crowds() map[uint64]int {
	width := bits.Len(uint(d.n / 4))
	counters := make([]uint8, 1<<width)
	var b [8]byte
	counter := func(h uint64) *uint8 {
		binary.LittleEndian.PutUint64(b[:], h)
		return &counters[xxh3.HashSeed(b[:], 1)>>(64-width)]
	}
	each := func(f func(h uint64)) {
		for _, part := range d.parts {
			for _, h := range part {
				f(h)
			}
		}
	}
	each(func(h uint64) {
		if c := counter(h); *c <= crowd {
			*c++
		}
	})
	found := map[uint64]int{}
	each(func(h uint64) {
		if *counter(h) > crowd {
			found[h]++
		}
	})
	return found
}

// leastHash returns what draws go by: of a document without shingles its number.
func leastHash(r *fingerprint.Result, given *engine.Fingerprint, number int64) uint64 {
	switch {
	case r != nil && len(r.Sketch) > 0:
		return uint64(r.Sketch[0])
	case given != nil:
		return uint64(*given)
	}
	return uint64(number) | 1<<63
}

// spent is what something has taken.
type spent struct{ cpu, wall time.Duration }

// spending returns a function that says what has been spent since.
func spending() func() spent {
	cpu, start := cpuTime(), time.Now()
	return func() spent { return spent{cpuTime() - cpu, time.Since(start)} }
}

// times returns what n times as much takes.
func (s spent) times(n float64) spent {
	return spent{time.Duration(float64(s.cpu) * n), time.Duration(float64(s.wall) * n)}
}

func (s spent) plus(other spent) spent { return spent{s.cpu + other.cpu, s.wall + other.wall} }

func (s spent) minus(other spent) spent {
	return spent{max(0, s.cpu-other.cpu), max(0, s.wall-other.wall)}
}

// clock returns about how long it takes by the clock if all steps run at the same time, as far as
// there are processors.
func (s spent) clock() time.Duration {
	at := math.Min(float64(runtime.GOMAXPROCS(0)), math.Max(1, float64(s.cpu)/math.Max(float64(s.wall), 1)))
	return time.Duration(float64(s.cpu) / at)
}

// planSample is a sample of the documents.
type planSample struct {
	loadSize
	docs  []engine.Doc
	at    []float64 // their draws
	share float64
	read  spent // what reading all documents has taken
}

// drawSample reads all documents, and keeps a sample of them, at least one.
func (c *Plan) drawSample(a *app.App, s app.Sources, m *progress.Meter, d *draws, all loadSize) (p planSample, err error) {
	if c.sample == 0 {
		c.sample = sampleBytes
	}
	p.share = min(float64(c.sample)/float64(max(all.bytes, 1)), sampleDocs/float64(max(all.documents, 1)))
	p.share = max(p.share, math.Nextafter(d.least, 1))
	defer debug.SetGCPercent(debug.SetGCPercent(planGarbage))
	took := spending()
	n := 0
	for _, name := range s.Names {
		err := c.eachOf(a, &s, name, input.NeedAll, func(in input.Source, rec *input.Record) error {
			if n >= d.n {
				return app.ErrChanged
			}
			if at := d.at(n); at < p.share {
				doc := rec.Doc
				if doc.Fingerprint != nil { // not in an array with those of other lines
					doc.Fingerprint = new(*doc.Fingerprint)
				}
				p.docs, p.at = append(p.docs, doc), append(p.at, at)
				p.add(&doc, true)
			}
			n++
			m.Report(s.Progress("draw documents", in))
			return nil
		})
		if err != nil {
			return p, err
		}
	}
	if n != d.n {
		return p, app.ErrChanged
	}
	p.read = took()
	return p, nil
}

// below returns the part of a sample that one of a smaller share has.
func (p *planSample) below(share float64) (q planSample) {
	for i := range p.docs {
		if p.at[i] < share {
			q.docs = append(q.docs, p.docs[i])
			q.add(&p.docs[i], true)
		}
	}
	return q
}

// eachOf calls f for every document of a file. It stops at the error errEnough, which it does not
// return.
func (c *Plan) eachOf(a *app.App, s *app.Sources, name string, need input.Need, f func(in input.Source, rec *input.Record) error) error {
	_, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return err
	}
	opt := c.RowInputFlags.Options()
	opt.MakeID, opt.Need = true, need
	if err := app.ReadFeatures(&opt, of); err != nil {
		return err
	}
	in, err := s.Open(name, opt)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(a.Context())
	defer cancel()
	for rec, err := range in.Records(ctx) {
		if _, ok := errors.AsType[*input.Issue](err); ok {
			continue
		} else if err != nil {
			return err
		}
		if err := f(in, rec); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	s.Done(in)
	return nil
}

// errEnough ends the reading of a file.
var errEnough = errors.New("enough was read")
