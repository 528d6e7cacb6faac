package verbs

import (
	"fmt"
	"runtime"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/sstable"
)

// planSize is how much there is in files. What load and dedup take follows from it by formulas,
// whose constants are those of texts of some hundred words.
type planSize struct {
	documents int64
	prints    int64 // of them, with a fingerprint or a text
	texts     int64 // bytes
	others    int64 // of IDs and fields
}

// add counts a document.
func (s *planSize) add(d *engine.Doc) {
	s.documents++
	has := d.Fingerprint != nil
	for range token.SplitWords(d.Text) {
		has = true
		break
	}
	if has {
		s.prints++
	}
	s.texts += int64(len(d.Text))
	s.others += int64(len(d.ID) + len(d.Fields))
}

// load returns the processor time of a load, and the bytes on disk.
func (s *planSize) load() (cpu time.Duration, disk int64) {
	cpu = time.Duration(2500*s.documents + 18*(s.texts+s.others))
	if e, err := sstable.EstimateNear(sstable.ChooseLayout(min(s.prints, sstable.MaxDocs)), max(s.prints, 1), 3); err == nil {
		disk = int64(e.Bytes * float64(s.prints))
	}
	disk += 10*s.documents + s.others + 9*s.texts/20
	if s.texts > 0 {
		disk += min(400*s.documents, s.texts) // sketches
	}
	return cpu, disk
}

// dedup returns the processor time of a dedup of texts, the memory, and the bytes of temporary
// files. It takes most memory when as many sets as there is room for are held beside the counters
// of their elements. The garbage collector lets the heap grow to twice what is in use, up to a
// limit.
func (s *planSize) dedup(memory int64) (cpu time.Duration, held, disk int64) {
	const onPass = 6 << 20 // bytes on their way through the pipelines, for each processor
	sets := s.texts        // about 8 bytes for each of its words
	held = min(sets, memory/4) + corpus.CounterBytes(memory, s.texts) + 5*s.documents
	held = min(2*held, max(memory/8*7, 64<<20)) + int64(runtime.GOMAXPROCS(0))*onPass
	return time.Duration(4000*s.documents + 18*s.texts), held, max(0, sets-memory/4)
}

// say prints what load and dedup take.
func (s *planSize) say(a *app.App, memory app.Memory) {
	cpu, disk := s.load()
	held := min(withSpare(memory), (s.texts+s.others)*8/5+40*s.documents) + besideMemory
	a.Say("%s: to load them takes about %s of processor time, %s of memory (--memory %s), and %s of disk, for a while as much again",
		quantity.Count(s.documents, "document"), roughly(cpu), quantity.Bytes(held), quantity.Bytes(int64(memory)), quantity.Bytes(disk))
	if s.texts > 0 {
		cpu, held, disk := s.dedup(int64(memory))
		a.Say("%s: dedup --jaccard 0.8 takes about %s of processor time, %s of memory (--memory %s) and %s of temporary files",
			quantity.Count(s.documents, "document"), roughly(cpu), quantity.Bytes(held), quantity.Bytes(int64(memory)), quantity.Bytes(disk))
	}
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
