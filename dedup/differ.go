package dedup

import (
	"unsafe"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
)

// Differences says in which words dropped documents differ from their keepers. Differences that
// recur are the sign of a catalogue or of templates, where documents that differ in one word may
// be different things; typing errors are unique. Counts are exact unless AtLeast is set.
type Differences struct {
	Looked    int64 // dropped documents whose words were compared with their keepers'
	Recurring int64 // part of Looked: documents with a difference that at least three of them have
	Most      []Difference
	AtLeast   bool // counts are lower bounds, since there were very many differences
}

// A Difference is the words that documents lack, and those that they add, in comparison with their
// keepers, and the number of these documents.
type Difference struct {
	Lacks string `json:"lacks"`
	Adds  string `json:"adds"`
	Count int64  `json:"count"`
}

// recurs is the number of documents that make a difference recurring, and mostShown how many
// differences are told.
const (
	recurs    = 3
	mostShown = 10
)

// differing stores texts of the first pass, as many as fit, to find differences that recur once the
// keepers are known. It has no part in the decisions. A nil differing stores nothing.
type differing struct {
	left   int64    // bytes
	blocks [][]byte // of texts
	places []uint64 // by document: the offset in all blocks, and in the lowest 16 bits the length
}

const (
	differBlock = 1 << 20
	differText  = 16 << 10 // longest text that is stored
	differShare = 16       // of the memory
)

// watchDifferences begins to store texts if the caller wants figures about words.
func (d *job) watchDifferences() {
	if !d.c.Figures || d.rejects.Part || d.c.Where.Images != nil || d.c.level() != units.Document || features.IsGiven(d.features.Unit) || d.features.Unit == features.Own {
		return
	}
	d.differ = &differing{left: d.c.memory() / differShare}
}

// add stores the text of the next document.
func (x *differing) add(text string) {
	if x == nil || x.left < 0 {
		return
	}
	if len(text) > differText {
		text = ""
	}
	last := len(x.blocks) - 1
	if last < 0 || len(x.blocks[last])+len(text) > differBlock {
		size := min(differBlock, 64<<10<<min(len(x.blocks), 10))
		x.blocks, last = append(x.blocks, make([]byte, 0, max(size, differText))), last+1
	}
	if x.left -= int64(len(text)) + 8; x.left < 0 {
		return
	}
	at := uint64(last)*differBlock + uint64(len(x.blocks[last]))
	x.blocks[last] = append(x.blocks[last], text...)
	x.places = append(x.places, at<<16|uint64(len(text)))
}

// text returns the text of a document, "" if it is not stored.
func (x *differing) text(n uint32) string {
	if int(n) >= len(x.places) {
		return ""
	}
	at, size := x.places[n]>>16, x.places[n]&0xffff
	if size == 0 {
		return ""
	}
	b := x.blocks[at/differBlock][at%differBlock:]
	return unsafe.String(&b[0], size) // blocks never change
}

// countDifferences sets the figures about words, once the keepers are known.
func (d *job) countDifferences() {
	if d.differ != nil {
		d.differs = d.differ.count(d.params.Features, &d.out)
	}
	d.differ = nil
}

// count compares the dropped documents with their keepers.
func (x *differing) count(of features.Spec, out *outcome) *Differences {
	t := worddiff.NewTally(of)
	for n, k := range out.keeper {
		if uint32(n) == k || k == nobody {
			continue
		}
		if a, b := x.text(k), x.text(uint32(n)); a != "" && b != "" {
			t.Add(a, b)
		}
	}
	most, recurring, exact := t.Recurring(recurs, mostShown)
	r := &Differences{Looked: t.Pairs, Recurring: recurring, AtLeast: !exact}
	for _, m := range most {
		r.Most = append(r.Most, Difference(m))
	}
	return r
}
