package merges

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/exhaustive"
)

// A simulation is a database in virtual time, in steps of a minute. Documents arrive, are flushed,
// deleted, and expire; the merges that the schedule picks last in proportion to their bytes.
type simulation struct {
	o        compaction.Options
	schedule Schedule
	ttl      int64 // in minutes; 0 for none
	flush    int64 // documents per flush

	r      *rand.Rand
	now    int64
	tables []*simTable
	mem    []simBin
	next   uint64
	ends   map[*compaction.Job]float64 // in minutes

	flushed, merged, largest int64
	ratio, worst, count      float64 // stored to living: sum and maximum; number of tables: sum
	most, steps              int
	reasons                  map[compaction.Reason]int // number of merges
}

func newSimulation(ttl, flush int64) *simulation {
	return &simulation{
		ttl: ttl, flush: flush, ends: map[*compaction.Job]float64{}, reasons: map[compaction.Reason]int{}, r: rand.New(rand.NewPCG(1, 2)),
		schedule: Schedule{Slots: 1}, now: 1000 * day,
	}
}

// simBytes is the size of a document in bytes, simMergeRate the number of bytes merged per minute.
const (
	simBytes     = 48
	simMergeRate = 60 * 100 << 20
	simMinute    = 60_000_000
)

type simBin struct{ minute, docs, dead int64 }

type simTable struct {
	number uint64
	bins   []simBin // in ascending order
}

func (s *simulation) expired() int64 { return s.now - s.ttl }

// describe describes the table as the engine does.
func (s *simulation) describe(t *simTable) compaction.Table {
	d := compaction.Table{Number: t.number}
	for _, b := range t.bins {
		d.Docs, d.Dead = d.Docs+b.docs, d.Dead+b.dead
	}
	d.Size = d.Docs * simBytes
	d.MinTime, d.MaxTime = t.bins[0].minute*simMinute, t.bins[len(t.bins)-1].minute*simMinute+simMinute-1
	const quantiles = 64
	n, i := int64(0), 0
	for _, b := range t.bins {
		for n += b.docs; i < quantiles && n > int64(i)*(d.Docs-1)/(quantiles-1); i++ {
			d.Times = append(d.Times, b.minute*simMinute+simMinute/2)
		}
	}
	d.Times[0], d.Times[quantiles-1] = d.MinTime, d.MaxTime
	return d
}

func addBin(bins []simBin, minute, docs int64) []simBin {
	i, ok := slices.BinarySearchFunc(bins, minute, func(b simBin, m int64) int { return int(b.minute - m) })
	if !ok {
		bins = slices.Insert(bins, i, simBin{minute: minute})
	}
	bins[i].docs += docs
	return bins
}

// step simulates a minute: docs documents that are late minutes old arrive, and deletes living
// documents are deleted.
func (s *simulation) step(docs, late, deletes int64) {
	s.now++
	s.mem = addBin(s.mem, s.now-late, docs)
	for s.inMem() >= s.flush {
		s.next++
		s.tables = append(s.tables, &simTable{s.next, s.mem})
		s.flushed += s.inMem()
		s.mem = nil
	}
	s.delete(deletes)
	s.merge()
}

func (s *simulation) inMem() (n int64) {
	for _, b := range s.mem {
		n += b.docs
	}
	return n
}

// living returns how many documents of a bin are visible.
func (s *simulation) living(b simBin) int64 {
	if s.ttl > 0 && b.minute < s.expired() {
		return 0
	}
	return b.docs - b.dead
}

// delete deletes about n documents, evenly.
func (s *simulation) delete(n int64) {
	if n == 0 {
		return
	}
	all := int64(0)
	for _, t := range s.tables {
		for _, b := range t.bins {
			all += s.living(b)
		}
	}
	for _, t := range s.tables {
		for i, b := range t.bins {
			f := float64(s.living(b)) * float64(n) / float64(max(all, 1))
			k := int64(f)
			if s.r.Float64() < f-float64(k) {
				k++
			}
			t.bins[i].dead += min(k, s.living(b))
		}
	}
}

// merge ends the merges that are complete, and starts those that the schedule picks.
func (s *simulation) merge() {
	for {
		for j, end := range s.ends {
			if end <= float64(s.now) {
				s.finish(j)
			}
		}
		var tables []compaction.Table
		for _, t := range s.tables {
			tables = append(tables, s.describe(t))
		}
		o := s.o
		if s.ttl > 0 {
			o.TTL, o.Expired = s.ttl*simMinute, s.expired()*simMinute
		}
		j := s.schedule.Next(tables, math.MaxInt64, o)
		if j == nil {
			return
		}
		s.schedule.Start(j)
		s.ends[j] = float64(s.now) + float64(j.Bytes)/simMergeRate
		if j.Reason == compaction.ReasonDrop || j.Bytes < simMergeRate/60 {
			s.finish(j)
		}
	}
}

// finish replaces the tables of a merge by its result.
func (s *simulation) finish(j *compaction.Job) {
	s.schedule.End(j)
	delete(s.ends, j)
	s.next++
	out := &simTable{number: s.next}
	docs := int64(0)
	s.tables = slices.DeleteFunc(s.tables, func(t *simTable) bool {
		if !slices.Contains(j.Tables, t.number) {
			return false
		}
		for _, b := range t.bins {
			if n := s.living(b); n > 0 {
				out.bins = addBin(out.bins, b.minute, n)
				docs += n
			}
		}
		return true
	})
	s.merged += docs
	s.reasons[j.Reason]++
	s.largest = max(s.largest, docs)
	if docs > 0 {
		s.tables = append(s.tables, out)
	}
}

// measure adds the current state to the statistics.
func (s *simulation) measure() {
	stored, living := int64(0), int64(0)
	for _, t := range s.tables {
		for _, b := range t.bins {
			stored, living = stored+b.docs, living+s.living(b)
		}
	}
	ratio := float64(stored) / float64(max(living, 1))
	s.ratio, s.worst = s.ratio+ratio, max(s.worst, ratio)
	s.count += float64(len(s.tables))
	s.most = max(s.most, len(s.tables))
	s.steps++
}

const day = 24 * 60 // in minutes

// arrivals returns the events of a minute: how many documents arrive, how many minutes old they
// are, and how many living documents are deleted.
type arrivals func(minute int64, r *rand.Rand) (docs, late, deletes int64)

func steady(rate float64) arrivals {
	return func(int64, *rand.Rand) (docs, late, deletes int64) { return int64(rate * 60), 0, 0 }
}

// daily has a rate twenty times higher at noon than at midnight.
func daily(rate float64) arrivals {
	return func(m int64, _ *rand.Rand) (docs, late, deletes int64) {
		return int64(rate * 60 * (1 + 0.9*math.Sin(2*math.Pi*float64(m)/day))), 0, 0
	}
}

// bursts has most documents arrive in ten minutes of every twelve hours.
func bursts(rate float64) arrivals {
	return func(m int64, _ *rand.Rand) (docs, late, deletes int64) {
		if m%(day/2) < 10 {
			return int64(rate * 60 * 60), 0, 0
		}
		return int64(rate * 60 * 0.2), 0, 0
	}
}

func deleting(a arrivals, share float64) arrivals {
	return func(m int64, r *rand.Rand) (docs, late, deletes int64) {
		docs, late, _ = a(m, r)
		return docs, late, int64(float64(docs) * share)
	}
}

// delayed has documents arrive up to most minutes late; all documents of together minutes have the
// same delay.
func delayed(a arrivals, most, together int64) arrivals {
	late := int64(0)
	return func(m int64, r *rand.Rand) (docs, _, deletes int64) {
		if m%together == 0 {
			late = r.Int64N(most)
		}
		docs, _, deletes = a(m, r)
		return docs, late, deletes
	}
}

// stops has days without any documents.
func stops(a arrivals) arrivals {
	return func(m int64, r *rand.Rand) (docs, late, deletes int64) {
		if m/day%4 == 3 {
			return 0, 0, 0
		}
		return a(m, r)
	}
}

// TestWindows simulates windows of days: the stored documents must be at most a quarter more than
// the living ones, documents must be rewritten only a few times, and there must be few tables.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		name     string
		ttl      int64
		flush    int64
		arrivals arrivals

		space, writes float64 // maxima: stored to living, and writes per document
		tables        int     // maximum number of tables
		long          bool
	}{
		{"2 days at 278 a second", 2 * day, 63_000, steady(278), 1.22, 5.5, 13, false},
		{"2 days at 58 a second", 2 * day, 63_000, steady(58), 1.22, 4.5, 13, false},
		{"2 days at 5 a second", 2 * day, 63_000, steady(5), 1.25, 3, 13, false},
		{"an hour at 2000 a second", 60, 63_000, steady(2000), 1.22, 4, 13, false},
		{"small flushes", 2 * day, 8_000, steady(278), 1.22, 9, 13, true},
		{"a week", 7 * day, 63_000, steady(278), 1.22, 7, 13, true},
		{"days and nights", 2 * day, 63_000, daily(278), 1.25, 6, 13, true},
		{"bursts", 2 * day, 63_000, bursts(278), 1.25, 6, 13, false},
		{"a tenth deleted", 2 * day, 63_000, deleting(steady(278), 0.1), 1.25, 6, 13, true},
		{"half deleted", 2 * day, 63_000, deleting(steady(278), 0.5), 1.25, 8, 13, true},
		{"late by up to an hour", 2 * day, 63_000, delayed(steady(278), 60, 1), 1.22, 7, 13, true},
		{"late by up to a day, an hour together", 2 * day, 63_000, delayed(steady(278), day, 60), 1.25, 13, 13, true},
		{"late by up to a day, mixed", 2 * day, 63_000, delayed(steady(278), day, 1), 1.25, 10, 13, true},
		{"days without any", 2 * day, 63_000, stops(steady(278)), 1.25, 6, 13, true},
		{"days without any, a tenth deleted", 2 * day, 63_000, stops(deleting(daily(100), 0.1)), 1.25, 7, 13, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !exhaustive.All() {
				t.Skip()
			}
			s := newSimulation(c.ttl, c.flush)
			for m := range 4 * c.ttl {
				s.step(c.arrivals(m, s.r))
				if m > c.ttl {
					s.measure()
				}
			}
			n := float64(s.steps)
			writes := 1 + float64(s.merged)/float64(s.flushed)
			t.Logf("stored/living mean %.3f, most %.3f; written %.2f times; tables mean %.1f, most %d; largest merge %.1f M; %v",
				s.ratio/n, s.worst, writes, s.count/n, s.most, float64(s.largest)/1e6, s.reasons)
			if s.worst > c.space || writes > c.writes || s.most > c.tables {
				t.Error("too much")
			}
		})
	}
}
