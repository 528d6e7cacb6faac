package merge

import (
	"cmp"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// number assigns the next number of the result to the next document of input i.
func (m *merger) number(i int, next []uint32) {
	if at := m.sources.Len(); at%docChunk == 0 {
		m.starts = append(m.starts, append([]uint32(nil), next...))
	}
	m.sources.Append(i)
}

// mergeFingerprints writes run 0, and so assigns numbers to all documents with a fingerprint.
func (m *merger) mergeFingerprints() error {
	m.sources = NewSources(int(m.docs), len(m.inputs))
	var streams []Stream
	for i, in := range m.inputs {
		in.numbers = NewMapping(in.Info.Docs, m.docs+1)
		in.runs, in.deadAt = in.Table.Runs, in.dead
		streams = append(streams, in.wholeRun(i))
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindRun, 0)
	n := &numbering{merger: m, run: m.runWriter(), next: make([]uint32, len(m.inputs))}
	n.beginMapping()
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p Pairs, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.mergedPiece(streams, pieces[i], (*mergeInput).positionsDead)
	}, func(_ int, p Pairs) error {
		m.pass(len(p.Keys))
		defer func() { n.mapping <- p }()
		return n.add(p)
	})
	n.endMapping()
	n.endGroup()
	dir, e := n.run.Finish()
	m.Out.EndWithDir(n.run.Len(), dir, e)
	m.Info.Fingerprints, m.Info.Distinct = uint32(n.run.Len()), n.distinct
	if err == nil {
		err = n.addBare()
	}
	m.Info.Docs = uint32(m.sources.Len())
	return err
}

// wholeRun returns the stream of run 0 of the current word.
func (in *mergeInput) wholeRun(i int) Stream {
	if in.gone = nil; in.deadAt != nil {
		in.gone = write.NewBitset(in.Info.Fingerprints)
	}
	return Whole(i, in.runs[0])
}

// numbering writes run 0 of a word. For the first word it numbers documents in the order of their
// fingerprints; for later words it writes these numbers as values.
type numbering struct {
	*merger
	run      *keyrun.ParallelWriter
	next     []uint32 // by input: the next position in run 0
	distinct uint32
	docs     []docReader // for later words, by input; nil for the first word
	vals     []uint32

	mapping chan Pairs    // pieces whose documents have been numbered
	mapped  chan struct{} // closed when all pieces are in the mappings

	// the documents with the current fingerprint
	any   bool
	key   uint64
	kept  bool   // whether one of them is in the result
	input int    // input of the first one
	at    uint32 // position of the first one in run 0 of its input
}

// beginMapping starts the goroutine that fills the mappings of the inputs, which costs as much time
// as the rest of numbering.
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

func (n *numbering) add(p Pairs) error {
	keys, vals := p.Keys[:0], n.vals[:0] // of documents that are not left out
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
				n.distinct++
			}
			keys = append(keys, key)
			if n.docs == nil {
				n.number(i, n.next)
			} else if doc, err := n.docs[i].at(int(n.next[i])); err != nil {
				return err
			} else {
				vals = append(vals, n.inputs[i].numbers.Get(doc))
			}
		}
		n.next[i]++
	}
	if n.docs == nil {
		return n.run.AddKeys(keys)
	}
	n.vals = vals
	return n.run.AddPairs(keys, vals)
}

// mergeWords writes the later words of the fingerprints, by document.
func (m *merger) mergeWords() error {
	for word := 1; word < m.Params.NumWords(); word++ {
		err := m.writeColumn(format.KindWords, uint16(word), func(c *docsChunk) ([]uint64, error) {
			err := c.columns(func(in *mergeInput) *keyrun.Column { return in.Words[word-1].Column }, (*mergeInput).deadDocs, nil)
			return c.values, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) mergeWordRuns() error {
	for m.word = 1; m.word < m.Params.NumWords(); m.word++ {
		if err := m.mergeWordRun(); err != nil {
			return err
		}
		if err := m.mergeRuns(); err != nil {
			return err
		}
	}
	return nil
}

// mergeWordRun writes run 0 of a later word.
func (m *merger) mergeWordRun() error {
	n := &numbering{merger: m, next: make([]uint32, len(m.inputs))}
	var streams []Stream
	m.gone = 0
	for i, in := range m.inputs {
		in.runs, in.deadAt = in.Words[m.word-1].Runs, nil
		docs := docReader{run: in.runs[0], most: in.Info.Fingerprints, block: -1}
		if in.dead != nil {
			in.deadAt = write.NewBitset(in.Info.Fingerprints)
			for pos := range int(in.Info.Fingerprints) {
				doc, err := docs.at(pos)
				if pos%docChunk == 0 {
					err = cmp.Or(err, m.ctx.Err())
				}
				if err != nil {
					return err
				}
				if in.dead.Has(doc) {
					in.deadAt.Add(uint32(pos))
				}
			}
		}
		n.docs = append(n.docs, docs)
		streams = append(streams, in.wholeRun(i))
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindRun, format.RunIndex(m.word, 0))
	n.run = keyrun.NewParallelWriter(keyrun.NewPairWriter(&m.Out, max(m.Info.Fingerprints, 1)-1), m.workers)
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (p Pairs, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.mergedPiece(streams, pieces[i], (*mergeInput).positionsDead)
	}, func(_ int, p Pairs) error {
		m.pass(len(p.Keys))
		defer m.putPairs(p)
		return n.add(p)
	})
	n.endGroup()
	dir, e := n.run.Finish()
	m.Out.EndWithDir(n.run.Len(), dir, e)
	if err == nil && n.run.Len() != int(m.Info.Fingerprints) {
		err = m.blameWords()
	}
	return err
}

// blameWords returns the error for a run 0 that does not list every document once.
func (m *merger) blameWords() error {
	for _, in := range m.inputs {
		if err := blame(in.runs[0], in.Info.Fingerprints); err != nil {
			return err
		}
	}
	return nil
}

// endGroup ends the documents with the current fingerprint. If all are left out, the runs of the
// result must not have the fingerprint.
func (n *numbering) endGroup() {
	if n.any && !n.kept {
		n.inputs[n.input].gone.Add(n.at)
		n.gone++
	}
	n.any = false
}

// addBare numbers the documents without a fingerprint: in the order of their IDs, or input after
// input if an input does not number them so.
func (n *numbering) addBare() error {
	dead := func(i int) { // the next documents of an input that are left out
		for in := n.inputs[i]; n.next[i] < in.Info.Docs && in.dead.Has(n.next[i]); n.next[i]++ {
			in.numbers.Append(uint32(n.sources.Len()))
		}
	}
	kept := func(i int) error {
		n.inputs[i].numbers.Append(uint32(n.sources.Len()))
		n.number(i, n.next)
		if n.next[i]++; n.next[i]%docChunk == 0 {
			return n.ctx.Err()
		}
		return nil
	}
	for at := 0; n.ordered && at < n.bare.Len(); at++ {
		i := n.bare.Get(at)
		dead(i)
		if err := kept(i); err != nil {
			return err
		}
	}
	for i, in := range n.inputs {
		for dead(i); n.next[i] < in.Info.Docs; dead(i) {
			if err := kept(i); err != nil {
				return err
			}
		}
	}
	n.merger.bare = nil
	return nil
}
