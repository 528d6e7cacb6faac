package verbs

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
)

// A forecast of dedup comes from its three steps on the first documents of the files, with as much
// less memory as they are fewer: their sets are made, joined, and the documents read again and
// copied. The join is done with half of the sample, too, so that its growth is known.

// dedupJaccard is the threshold of dedup without flags.
const dedupJaccard = 0.8

// dedupForecast is what dedup will take.
type dedupForecast struct {
	time   time.Duration
	memory int64
	disk   int64 // of temporary files
}

// dedupBeside is the memory of a process beside what --memory bounds: its code, and buffers of
// inputs and outputs for each processor.
func dedupBeside() int64 { return 28<<20 + int64(runtime.GOMAXPROCS(0))*6<<20 }

// dedupSample is a sample of documents, as far as it has been read.
type dedupSample struct {
	loadSize
	*corpus.Corpus
}

// forecastDedup says what dedup --jaccard 0.8 of the files will take.
func (c *Plan) forecastDedup(a *app.App, s app.Sources, m *progress.Meter, all loadSize) (f dedupForecast, err error) {
	if c.sample == 0 {
		c.sample = sampleBytes
	}
	whole := min(c.sample, max(all.bytes, 1))
	half, err := c.dedupSample(a, s, m, all, whole/2)
	if err != nil {
		return f, err
	}
	defer half.Close()
	joinHalf, err := joinSample(a.Context(), half, c.share(whole/2, all))
	if err != nil {
		return f, err
	}
	start := time.Now()
	part, err := c.dedupSample(a, s, m, all, whole)
	read := time.Since(start)
	if err != nil {
		return f, err
	}
	defer part.Close()
	join, err := joinSample(a.Context(), part, c.share(whole, all))
	if err != nil {
		return f, err
	}
	start = time.Now()
	if err := c.eachOfSample(a, s, whole, func(in input.Source, rec *input.Record) error {
		_, err := io.Discard.Write(rec.Raw)
		return err
	}); err != nil {
		return f, err
	}
	read += time.Since(start)
	more := float64(all.bytes) / float64(max(part.bytes, 1))
	f.time = time.Duration(float64(read)*more) + time.Duration(float64(join)*math.Pow(more, power(join, joinHalf, part, half)))
	spilled := part.Sets.Spilled()
	f.disk = int64(float64(spilled) * more)
	sets := float64(part.Sets.Bytes()) * more
	f.memory = min(int64(c.Memory)/8*7, int64(2*sets)+60*all.documents) + dedupBeside()
	return f, nil
}

// share is the memory of a sample of that many bytes: the same share of --memory.
func (c *Plan) share(bytes int64, all loadSize) int64 {
	return max(int64(float64(c.Memory)*min(1, float64(bytes)/float64(max(all.bytes, 1)))), 1<<20)
}

// power is how the time of the join grows with the documents, by that of two samples: 1 if it is
// proportional. Times of milliseconds say nothing.
func power(join, half time.Duration, part, of *dedupSample) float64 {
	const least = 20 * time.Millisecond
	if half < least || part.documents < of.documents*3/2 {
		return 1
	}
	p := math.Log(float64(join)/float64(half)) / math.Log(float64(part.documents)/float64(of.documents))
	return min(max(p, 1), 1.2)
}

// dedupSample makes the sets of the first documents.
func (c *Plan) dedupSample(a *app.App, s app.Sources, m *progress.Meter, all loadSize, bytes int64) (*dedupSample, error) {
	dir, err := a.TempDir()
	if err != nil {
		return nil, err
	}
	params, _, err := c.FeatureFlags.Params(0)
	if err != nil {
		return nil, err
	}
	memory := c.share(bytes, all)
	part := &dedupSample{Corpus: corpus.New(corpus.Options{Sets: true, Memory: memory, InputBytes: bytes, Dir: dir})}
	return part, c.extractSample(a, s, m, params, bytes, part)
}

// extractSample adds the first documents to a sample.
func (c *Plan) extractSample(a *app.App, s app.Sources, m *progress.Meter, params fingerprint.Params, bytes int64, part *dedupSample) error {
	x := corpus.NewExtractor(a.Context(), params, part.Corpus)
	defer x.Stop()
	err := c.eachOfSample(a, s, bytes, func(_ input.Source, rec *input.Record) error {
		part.add(&rec.Doc, true)
		if part.documents%1024 == 0 {
			m.Report(engine.Progress{Stage: "compare a part", Done: part.bytes, Total: bytes, Unit: "bytes"})
		}
		return x.Add(&rec.Doc)
	})
	if err != nil {
		return err
	}
	return x.Finish()
}

// eachOfSample calls f for the first documents of the files, that many bytes of them.
func (c *Plan) eachOfSample(a *app.App, s app.Sources, bytes int64, f func(in input.Source, rec *input.Record) error) error {
	_, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return err
	}
	opt := c.RowInputFlags.Options()
	opt.MakeID = true
	if err := app.ReadFeatures(&opt, of); err != nil {
		return err
	}
	for _, name := range s.Names {
		if bytes, err = c.someOf(a, s, name, opt, bytes, f); err != nil || bytes <= 0 {
			return err
		}
	}
	return nil
}

// someOf calls f for the first documents of a file, and returns how many bytes are left.
func (c *Plan) someOf(a *app.App, s app.Sources, name string, opt input.Options, left int64, f func(in input.Source, rec *input.Record) error) (int64, error) {
	in, err := s.Open(name, opt)
	if err != nil {
		return left, err
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(a.Context())
	defer cancel()
	for rec, err := range in.Records(ctx) {
		if _, ok := errors.AsType[*input.Issue](err); ok {
			continue
		} else if err != nil {
			return left, err
		}
		if err := f(in, rec); err != nil {
			return left, err
		}
		if left -= documentBytes(&rec.Doc); left <= 0 {
			break
		}
	}
	return left, nil
}

// joinSample joins a sample, and returns how long that took.
func joinSample(ctx context.Context, part *dedupSample, memory int64) (time.Duration, error) {
	start := time.Now()
	_, err := part.Sets.Stars(ctx, dedupJaccard, setjoin.Options{Memory: memory / 4})
	return time.Since(start), err
}

// say prints a forecast.
func (f *dedupForecast) say(a *app.App, all loadSize, memory app.Memory) {
	a.Say("%s: dedup --jaccard %g takes about %s on %s, %s of memory (--memory %s) and %s of temporary files",
		quantity.Count(all.documents, "document"), dedupJaccard, roughly(f.time), quantity.Plain(runtime.GOMAXPROCS(0), "processor", "processors"),
		progress.Bytes(f.memory), progress.Bytes(int64(memory)), progress.Bytes(f.disk))
}
