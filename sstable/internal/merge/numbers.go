package merge

import (
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/sstable/internal/format"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
	"github.com/simdb/simdb/sstable/internal/write"
)

// number gives the next document of the result, document doc of input i.
func (m *merger) number(i int, next []uint32) {
	if at := m.sources.Len(); at%docChunk == 0 {
		m.starts = append(m.starts, append([]uint32(nil), next...))
	}
	m.sources.Append(i)
}

// mergeFingerprints writes run 0, and so gives all documents their numbers.
func (m *merger) mergeFingerprints() error {
	m.sources = NewSources(int(m.docs), len(m.inputs))
	var streams []Stream
	for i, in := range m.inputs {
		in.numbers = NewMapping(in.Info.Docs, m.docs+1)
		if in.dead != nil {
			in.gone = write.NewBitset(in.Info.Fingerprints)
		}
		streams = append(streams, Whole(i, in.Runs[0]))
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindRun, 0)
	n := &numbering{merger: m, run: m.runWriter(), next: make([]uint32, len(m.inputs))}
	n.beginMapping()
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p Pairs, err error) {
		defer table.UnguardAny(m.tables, table.Guard(), &err)
		return m.mergedPiece(streams, pieces[i], (*mergeInput).deadDocs)
	}, func(_ int, p Pairs) error {
		m.pass(len(p.Keys))
		return n.add(p)
	})
	n.endMapping()
	n.endGroup()
	dir, e := n.run.Finish()
	m.Out.EndWithDir(n.run.Len(), dir, e)
	m.Info.Fingerprints = uint32(n.run.Len())
	n.addBare()
	m.Info.Docs = uint32(m.sources.Len())
	return err
}

// numbering numbers documents in the order of their fingerprints.
type numbering struct {
	*merger
	run  *keyrun.ParallelWriter
	next []uint32 // of each input, the document that comes next

	mapping chan Pairs    // pieces whose documents have their numbers
	mapped  chan struct{} // closed when all of them are in the mappings

	// the documents with one fingerprint
	any   bool
	key   uint64
	kept  bool   // one of them is
	input int    // of the first
	at    uint32 // its number there
}

// beginMapping starts the goroutine that fills the mappings of the inputs, which takes as long as
// the rest of numbering.
func (n *numbering) beginMapping() {
	n.mapping, n.mapped = make(chan Pairs, 1), make(chan struct{})
	go func() {
		defer close(n.mapped)
		number := uint32(0)
		for p := range n.mapping {
			for _, v := range p.Vals {
				n.inputs[v&^deadFlag].numbers.Append(number)
				if v&deadFlag == 0 {
					number++
				}
			}
			n.putPairs(p)
		}
	}()
}

// endMapping waits until the mappings have all documents that were added.
func (n *numbering) endMapping() {
	close(n.mapping)
	<-n.mapped
}

// add numbers the documents of a piece.
func (n *numbering) add(p Pairs) error {
	defer func() { n.mapping <- p }()
	keys := p.Keys[:0] // of documents that are kept
	for j, key := range p.Keys {
		i := int(p.Vals[j] &^ deadFlag)
		dead := p.Vals[j]&deadFlag != 0
		if !n.any || key != n.key {
			n.endGroup()
			n.any, n.key, n.kept, n.input, n.at = true, key, false, i, n.next[i]
		}
		if !dead {
			if !n.kept {
				n.kept = true
				n.Info.Distinct++
			}
			n.number(i, n.next)
			keys = append(keys, key)
		}
		n.next[i]++
	}
	return n.run.AddKeys(keys)
}

// endGroup ends the documents with one fingerprint. If none of them is kept, the runs of the result
// must not have it.
func (n *numbering) endGroup() {
	if n.any && !n.kept {
		n.inputs[n.input].gone.Add(n.at)
		n.gone++
	}
	n.any = false
}

// addBare numbers the documents without a fingerprint.
func (n *numbering) addBare() {
	for i, in := range n.inputs {
		for ; n.next[i] < in.Info.Docs; n.next[i]++ {
			in.numbers.Append(uint32(n.sources.Len()))
			if !in.dead.Has(n.next[i]) {
				n.number(i, n.next)
			}
		}
	}
}
