package verbs

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/stopwatch"
	"github.com/simdb/simdb/internal/vfs"
)

// tempDir makes the folder for the database, after it has made sure that there is room for it.
func (b *bench) tempDir() (string, error) {
	parent := cmp.Or(b.c.Dir, os.TempDir())
	// Compacting takes a table as large as all others; a large one needs fewer bits a fingerprint.
	each := int64(42)
	if b.n > 20_000_000 {
		each = 34
	}
	need := each * int64(b.n)
	if b.c.Parts == 1 {
		need *= 2
	}
	free, known := vfs.Free(parent)
	if known && free < need {
		return "", fmt.Errorf("%s: %s free, and up to %s are needed: see --dir and --n", parent, progress.Bytes(free), progress.Bytes(need))
	}
	if need > 1<<30 {
		b.a.Say("up to %s of disk are needed in %s", progress.Bytes(need), parent)
	}
	return b.a.TempDirIn(b.c.Dir)
}

// measure measures the machine, in memory as large as the index.
func (b *bench) measure(index int64) error {
	b.meter.Report(engine.Progress{Stage: "machine"})
	b.machine = measureMachine(index)
	return b.rows(
		benchRow{"machine", "latency", b.latency, "ns/line"},
		benchRow{"machine", "lines", 1e3 / b.line, "M/s"},
		benchRow{"machine", "lines in spans", 1e3 / b.span, "M/s"},
		benchRow{"machine", "bandwidth", 1 / b.byte, "GB/s"},
		benchRow{"machine", "decode", 1 / b.decode, "G/s"},
		benchRow{"machine", "move", 1e3 / b.move, "M/s"},
		benchRow{"machine", "compare", 1 / b.compare, "G/s"},
		benchRow{"machine", "compare many", 1 / b.compareMany, "G/s"},
	)
}

// benchRow is a row of figures.
type benchRow struct {
	work, measure string
	value         float64
	unit          string
}

// rows writes some.
func (b *bench) rows(rows ...benchRow) error {
	for _, r := range rows {
		if err := b.row(r.work, r.measure, app.Rounded(r.value, 4), r.unit); err != nil {
			return err
		}
	}
	return nil
}

// cold measures opening the database, and searches, when no page of its tables is in memory.
func (b *bench) cold(path string) (err error) {
	if b.c.NoCold || !evict(path) {
		return nil
	}
	before, start := bytesRead(), stopwatch.Start()
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	opened, read := start.Elapsed(), bytesRead()
	k := int(slices.Min(b.c.K))
	work := fmt.Sprintf("cold near %d", k)
	queries := make([]uint64, benchCold)
	for i := range queries {
		queries[i] = b.query(i)
	}
	took, err := b.search(db, work, k, &queries, 1)
	if err != nil {
		return err
	}
	after := bytesRead()
	slices.Sort(took)
	rows := []benchRow{{"cold open", "time", micros(opened) / 1e3, "ms"}, {work, "p50", micros(took[len(took)/2]), "us"}}
	if before >= 0 && after > before { // else the system does not say
		rows = append(rows, benchRow{"cold open", "read", float64(read-before) / 1e6, "MB"},
			benchRow{work, "read", float64(after-read) / 1e3 / float64(len(took)), "KB/search"})
	}
	return b.rows(rows...)
}

// evict drops the tables of a database from memory, and reports whether that could be done.
func evict(path string) bool {
	names, _ := filepath.Glob(filepath.Join(path, "*.sst"))
	for _, name := range names {
		f, err := vfs.Disk.Open(name)
		if err != nil {
			return false
		}
		defer f.Close()
		a, ok := f.(vfs.Adviser)
		data, unmap, err := f.Mmap()
		if !ok || err != nil {
			return false
		}
		size := int64(len(data))
		dropped := a.Advise(data, 0, size, vfs.AdviseDrop) && !a.Cached(data, size/2)
		if unmap(); !dropped {
			return false
		}
	}
	return len(names) > 0
}

// bytesRead returns how many bytes this process has had read from storage, -1 if the system does
// not say.
func bytesRead() int64 {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("read_bytes: ")); ok {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
