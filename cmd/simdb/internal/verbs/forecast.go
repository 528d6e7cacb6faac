package verbs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/sstable"
)

// A forecast of a load comes from a load in miniature: the first documents of the files go to a
// temporary database, with as much less memory as they are fewer. So they come in as many tables,
// which are merged in the same way. What does not grow in proportion is corrected: fingerprints
// take fewer bits the more there are, ranks more.
const (
	sampleBytes = 48 << 20 // of documents, in the miniature
	leastSample = 64 << 10 // bytes of memory of the miniature

	// slower is by how much a document takes longer in a database of twice as many: less of it is
	// in the caches of the processor.
	slower = 1.03
)

// loadSize is how much there is to load.
type loadSize struct {
	documents    int64
	fingerprints int64
	bytes        int64 // of IDs, texts and fields, and of some other things
	texts        bool  // some documents have one
}

// add counts a document.
func (s *loadSize) add(d *engine.Doc, hasFingerprint bool) {
	s.documents++
	if hasFingerprint {
		s.fingerprints++
	}
	s.bytes += documentBytes(d)
	s.texts = s.texts || d.Text != ""
}

// documentBytes is the size of a document in a loadSize.
func documentBytes(d *engine.Doc) int64 { return int64(len(d.ID) + len(d.Text) + len(d.Fields) + 16) }

// forecast is what a load will take.
type forecast struct {
	time       time.Duration
	disk, peak int64 // bytes in the end, and at most
	memory     int64
}

// forecast loads the first documents of the files and says what a load of all of them will take.
func (c *Plan) forecast(a *app.App, s app.Sources, m *progress.Meter, all loadSize) (f forecast, err error) {
	dir, err := a.TempDir()
	if err != nil {
		return f, err
	}
	path := filepath.Join(dir, "plan.simdb")
	o := &engine.Options{}
	if err := c.FeatureFlags.Options(o); err != nil {
		return f, err
	}
	db, err := engine.Create(path, o)
	if err != nil {
		return f, err
	}
	defer db.Close()
	if c.sample == 0 {
		c.sample = sampleBytes
	}
	share := min(1, float64(c.sample)/float64(max(all.bytes, 1)))
	memory := max(int64(float64(c.Memory)*share), leastSample)
	var peak atomic.Int64
	stop := watchSize(path, &peak)
	start := time.Now()
	part, err := c.loadSample(a, db, s, m, memory)
	if err == nil {
		err = db.CompactDue(a.Context(), nil)
	}
	took := time.Since(start)
	stop()
	if err != nil {
		return f, err
	}
	size := folderSize(path)
	more := float64(all.bytes) / float64(max(part.bytes, 1))
	f.time = time.Duration(float64(took) * more * math.Pow(slower, math.Log2(max(more, 1))))
	per := float64(size)/float64(max(part.documents, 1)) + growth(part.fingerprints, all.fingerprints)
	f.disk = int64(per * float64(part.documents) * more)
	f.peak = int64(float64(f.disk) * float64(max(peak.Load(), size)) / float64(max(size, 1)))
	f.memory = min(int64(c.Memory), 2*all.bytes+64*all.documents) + besideMemory
	return f, nil
}

// growth is by how many bytes a document is larger in a database of all fingerprints than in one of
// some.
func growth(some, all int64) float64 {
	if some < 1000 || all <= some {
		return 0
	}
	runs := func(n int64) float64 {
		e, err := sstable.EstimateNear(sstable.ChooseLayout(n), n, 3)
		if err != nil {
			return 0
		}
		return e.Bytes
	}
	return runs(all) - runs(some) + math.Log2(float64(all)/float64(some))/8
}

// loadSample loads the first documents of the files.
func (c *Plan) loadSample(a *app.App, db *engine.DB, s app.Sources, m *progress.Meter, memory int64) (part loadSize, err error) {
	l, err := db.NewLoader(a.Context(), engine.LoadOptions{Replace: true, MemoryBytes: memory})
	if err != nil {
		return part, err
	}
	opt := c.RowInputFlags.Options()
	opt.MakeID = true
	if err := app.ReadFeatures(&opt, db.Params().Features); err != nil {
		l.Abort()
		return part, err
	}
	for _, name := range s.Names {
		if err := c.loadSampleOf(a, l, s, m, name, opt, &part); err != nil {
			l.Abort()
			return part, err
		}
		if part.bytes >= c.sample {
			break
		}
	}
	_, err = l.Close()
	return part, err
}

// loadSampleOf loads the first documents of a file, as far as they are wanted.
func (c *Plan) loadSampleOf(a *app.App, l *engine.Loader, s app.Sources, m *progress.Meter, name string, opt input.Options, part *loadSize) error {
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
		err := l.Add(rec.Doc)
		if errors.Is(err, engine.ErrInvalid) || errors.Is(err, engine.ErrTooLarge) {
			continue
		} else if err != nil {
			return err
		}
		part.add(&rec.Doc, true)
		if part.bytes >= c.sample {
			break
		}
		if part.documents%1024 == 0 {
			m.Report(engine.Progress{Stage: "load a part", Done: part.bytes, Total: c.sample, Unit: "bytes"})
		}
	}
	return nil
}

// watchSize notes the largest size of a folder until it is told to stop.
func watchSize(path string, peak *atomic.Int64) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			peak.Store(max(peak.Load(), folderSize(path)))
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// folderSize returns the bytes of the files in a folder.
func folderSize(path string) (n int64) {
	files, _ := os.ReadDir(path) // what can't be read has no size
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// say prints a forecast.
func (f *forecast) say(a *app.App, all loadSize, memory app.Memory) {
	a.Say("%s: to load them takes about %s, %s of memory (--memory %s), %s of disk, and %s more while tables are merged",
		quantity.Count(all.documents, "document"), roughly(f.time), progress.Bytes(f.memory), progress.Bytes(int64(memory)),
		progress.Bytes(f.disk), progress.Bytes(f.peak-f.disk))
}

// roughly is a time in words: 3 s, 4.5 min.
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.2g s", max(d.Seconds(), 0.1))
	case d < 2*time.Hour:
		return fmt.Sprintf("%.2g min", d.Minutes())
	}
	return fmt.Sprintf("%.2g h", d.Hours())
}
