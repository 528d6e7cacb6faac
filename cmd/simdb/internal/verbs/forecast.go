package verbs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/sstable"
)

// A forecast of a load comes from a load in miniature: a sample of the documents goes to a
// temporary database, with as much less memory as they are fewer. So they come in as many tables,
// which are merged in the same way. What does not grow in proportion is corrected: fingerprints
// take fewer bits the more there are, ranks more.
const leastSample = 64 << 10 // bytes of memory of the miniature

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
	time       spent
	disk, peak int64 // bytes in the end, and at most
	memory     int64
}

// forecast loads a sample of the documents and says what a load of all of them will take.
func (c *Plan) forecast(a *app.App, m *progress.Meter, part *planSample, all loadSize) (f forecast, err error) {
	more := part.more(all)
	memory := max(int64(float64(c.Memory)/more), leastSample)
	mini, err := c.miniature(a, m, part, memory)
	if err != nil {
		return f, err
	}
	// A load gets its buffers from the system once, however long it is: the second miniature has
	// those of the first.
	again, err := c.miniature(a, m, part, memory)
	if err != nil {
		return f, err
	}
	if again.time.cpu < mini.time.cpu {
		mini.time = again.time
	}
	mini.peak = max(mini.peak, again.peak)
	f.time = part.read.plus(mini.time.times(more))
	per := float64(mini.disk)/float64(max(part.documents, 1)) + growth(part.fingerprints, all.fingerprints)
	f.disk = int64(per * float64(part.documents) * more)
	f.peak = int64(float64(f.disk) * float64(mini.peak) / float64(max(mini.disk, 1)))
	f.memory = min(withSpare(c.Memory), all.bytes*8/5+24*all.documents) + besideMemory // as seen of loads with room to spare
	return f, nil
}

// miniature loads a sample into a temporary database and says what that has taken.
func (c *Plan) miniature(a *app.App, m *progress.Meter, part *planSample, memory int64) (f forecast, err error) {
	dir, err := a.TempDir()
	if err != nil {
		return f, err
	}
	path := filepath.Join(dir, "plan.simdb")
	o := &engine.Options{}
	if err := c.FeatureFlags.Options(o); err != nil {
		return f, err
	}
	var peak atomic.Int64
	took := spending()
	db, err := engine.Create(path, o)
	if err != nil {
		return f, err
	}
	defer db.Close()
	stop := watchSize(path, &peak)
	err = c.loadSample(a, db, m, part, memory)
	if err == nil {
		err = db.CompactDue(a.Context(), nil)
	}
	f.time = took()
	stop()
	f.disk = folderSize(path)
	f.peak = max(peak.Load(), f.disk)
	return f, err
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

// more is how many times the sample all documents are.
func (p *planSample) more(all loadSize) float64 {
	return max(1, float64(all.bytes)/float64(max(p.bytes, 1)))
}

// loadSample loads a sample.
func (c *Plan) loadSample(a *app.App, db *engine.DB, m *progress.Meter, part *planSample, memory int64) error {
	l, err := db.NewLoader(a.Context(), engine.LoadOptions{Replace: true, MemoryBytes: memory})
	if err != nil {
		return err
	}
	for i := range part.docs {
		err := l.Add(part.docs[i])
		if err != nil && !errors.Is(err, engine.ErrInvalid) && !errors.Is(err, engine.ErrTooLarge) {
			l.Abort()
			return err
		}
		if i%1024 == 0 {
			m.Report(engine.Progress{Stage: "load a part", Done: int64(i), Total: part.documents, Unit: "documents"})
		}
	}
	_, err = l.Close()
	return err
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
	a.Say("%s: to load them takes about %s (%s of processor time), %s of memory (--memory %s), %s of disk, and %s more while tables are merged",
		quantity.Count(all.documents, "document"), roughly(f.time.clock()), roughly(f.time.cpu), progress.Bytes(f.memory), progress.Bytes(int64(memory)),
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
