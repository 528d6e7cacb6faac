package verbs

import (
	"io"
	"math"
	"runtime"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
)

// A forecast of dedup comes from its steps on a sample of the documents, with as much less memory
// as they are fewer: their sets are made and joined. The join is done with half of the sample, too,
// so that its growth is known. All documents are read, and of the first ones again what a copy
// takes.

// dedupJaccard is the threshold of dedup without flags.
const dedupJaccard = 0.8

// dedupForecast is what dedup will take.
type dedupForecast struct {
	time   spent
	memory int64
	disk   int64 // of temporary files
}

// dedupOnPass is how many bytes are on their way through the pipelines, for each processor.
const dedupOnPass = 6 << 20

// dedupMemory is what a dedup of so many documents takes, whose sets have that many bytes. It takes
// most when as many sets as memory has room for are held beside the counters of their elements, or
// the index beside them. The garbage collector lets the heap grow to twice what is in use, up to
// the limit that dedup sets. The pages of the program and of files are not counted.
func (c *Plan) dedupMemory(documents, sets, input int64) int64 {
	memory := int64(c.Memory)
	counters := corpus.CounterBytes(memory, input)
	const perDocument = 5 // bytes beside its set
	held := min(sets, memory/4) + counters + perDocument*documents
	heap := min(2*held, max(memory/8*7, 64<<20))
	return heap + int64(runtime.GOMAXPROCS(0))*dedupOnPass
}

// forecastDedup says what dedup --jaccard 0.8 of the files will take.
func (c *Plan) forecastDedup(a *app.App, s app.Sources, part *planSample, all loadSize) (f dedupForecast, err error) {
	input := contentBytes(s)
	half := part.below(min(part.share, 1) / 2)
	_, joinNone, madeNone, err := c.dedupSample(a, &planSample{}, all, input) // what counters take at any rate
	if err != nil {
		return f, err
	}
	_, joinHalf, _, err := c.dedupSample(a, &half, all, input)
	if err != nil {
		return f, err
	}
	sets, join, made, err := c.dedupSample(a, part, all, input)
	if err != nil {
		return f, err
	}
	made, join, joinHalf = made.minus(madeNone), join.minus(joinNone), joinHalf.minus(joinNone)
	copied, bytes, err := c.copySample(a, s)
	if err != nil {
		return f, err
	}
	more := part.more(all)
	f.time = part.read.plus(made.times(more)).plus(copied.times(float64(all.bytes) / float64(max(bytes, 1))))
	f.time = f.time.plus(join.times(math.Pow(more, power(join, joinHalf, part, &half))))
	f.disk = int64(float64(sets.spilled) * more)
	f.memory = c.dedupMemory(all.documents, int64(float64(sets.bytes)*more), input)
	return f, nil
}

// contentBytes is about how many bytes the files have when they are decompressed.
func contentBytes(s app.Sources) (n int64) {
	if s.Tree != nil {
		return s.Total
	}
	for _, name := range s.Names {
		n += input.ContentBytes(name)
	}
	return n
}

// mostCounters is how many bytes of counters are no better cached than any more.
const mostCounters = 64 << 20

// power is how the time of the join grows with the documents, by that of two samples. The index of
// a sample is in the caches, so that this shows too little: with twice the documents, each takes
// usualPower's seventh longer at least. Times of milliseconds say nothing.
func power(join, half spent, part, of *planSample) float64 {
	const usualPower, mostPower, least = 1.2, 1.3, 100 * time.Millisecond
	if half.cpu < least || part.documents < of.documents*3/2 {
		return usualPower
	}
	p := math.Log(float64(join.cpu)/float64(half.cpu)) / math.Log(float64(part.documents)/float64(of.documents))
	return min(max(p, usualPower), mostPower)
}

// setBytes are the bytes of the sets of a sample, in all and in the temporary file.
type setBytes struct{ bytes, spilled int64 }

// dedupSample makes and joins the sets of a sample, and returns what both have taken.
func (c *Plan) dedupSample(a *app.App, part *planSample, all loadSize, input int64) (sets setBytes, join, made spent, err error) {
	dir, err := a.TempDir()
	if err != nil {
		return sets, join, made, err
	}
	params, _, err := c.FeatureFlags.Params(0)
	if err != nil {
		return sets, join, made, err
	}
	memory := max(int64(float64(c.Memory)/part.more(all)), 1<<20)
	// Counters have the size of those of all documents, so that as little of them is in the caches.
	counters := min(corpus.Counters(int64(c.Memory), input), mostCounters)
	to := corpus.New(corpus.Options{Sets: true, Memory: memory, InputBytes: part.bytes, Counters: counters, Dir: dir})
	defer to.Close()
	took := spending()
	x := corpus.NewExtractor(a.Context(), params, to)
	defer x.Stop()
	for i := range part.docs {
		if err := x.Add(&part.docs[i]); err != nil {
			return sets, join, made, err
		}
	}
	if err := x.Finish(); err != nil {
		return sets, join, made, err
	}
	made, took = took(), spending()
	if _, err := to.Sets.Stars(a.Context(), dedupJaccard, setjoin.Options{Memory: memory / 4}); err != nil {
		return sets, join, made, err
	}
	return setBytes{to.Sets.Bytes(), to.Sets.Spilled()}, took(), made, nil
}

// copySample reads the first documents as a copy of them does, and returns how many bytes they are.
func (c *Plan) copySample(a *app.App, s app.Sources) (took spent, bytes int64, err error) {
	stop := spending()
	for _, name := range s.Names {
		err := c.eachOf(a, &s, name, input.NeedID, func(_ input.Source, rec *input.Record) error {
			if bytes += int64(len(rec.Raw)); bytes > c.sample {
				return errEnough
			}
			_, err := io.Discard.Write(rec.Raw)
			return err
		})
		if err != nil || bytes > c.sample {
			return stop(), bytes, err
		}
	}
	return stop(), bytes, nil
}

// say prints a forecast.
func (f *dedupForecast) say(a *app.App, all loadSize, memory app.Memory) {
	a.Say("%s: dedup --jaccard %g takes about %s on %s (%s of processor time), %s of memory (--memory %s) and %s of temporary files",
		quantity.Count(all.documents, "document"), dedupJaccard, roughly(f.time.clock()), quantity.Plain(runtime.GOMAXPROCS(0), "processor", "processors"), roughly(f.time.cpu),
		progress.Bytes(f.memory), progress.Bytes(int64(memory)), progress.Bytes(f.disk))
}
