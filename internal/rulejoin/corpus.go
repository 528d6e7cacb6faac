// Package rulejoin joins documents by a rule (package pairrule), exactly. Of each branch of the
// rule, one join lists pairs, and the rest of the branch is tested on these.
//
//	corpus.go    the documents, with the values that the rule compares
//	column.go    the values of equalities
//	differ.go    words that stand against others, and differences that recur
//	test.go      the rule for two documents
//	plan.go      which join lists the pairs of a branch, by estimated costs
//	pairs.go     all matching pairs
//	clusters.go  stars and components
//	search.go    stored documents that match others
//	admit.go     documents that no stored one matches
//	grouper.go   equalities that limit the matches of a criterion
//
// Documents that are equal in everything that the rule compares are one class, so that a crowd of
// copies is compared once.
package rulejoin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pairrule"
)

// Options are the options of a Corpus.
type Options struct {
	Params     features.Params // of fingerprints, and of sets whose unit the rule does not name
	TextFields []string        // the fields that make up the text of a document
	Memory     int64           // bytes for the whole run; the features of documents need up to half
	InputBytes int64           // approximate total size of the documents
	Dir        string          // folder of temporary files

	// Apart says that the caller may refuse pairs, so that equal documents are not alike.
	Apart bool
}

// A Corpus holds the values that a rule compares in documents, which are numbered from 0 in the order of
// adding. It is not safe for concurrent use.
type Corpus struct {
	N int // documents

	rule    *pairrule.Rule
	o       Options
	classes map[xxh3.Uint128]uint32 // nil if each document is a class
	of      []uint32                // by document: its class
	first   []uint32                // by class: its first document, then all
	members []uint32                // grouped by class
	n       uint32                  // classes

	fields  []*field
	columns []*column    // by atom, nil for others than equalities
	differs []*differing // by atom, likewise
	counted bool         // how often differences occur
	views   []*view
	viewOf  []int // by atom: its index in views
	scratch []byte
	texts   []string // of the views, of the document that is added
	order   [][]int  // by branch: the places of its literals, those that are tested fast first
}

// A view is what similarities compare in all classes.
type view struct {
	*corpus.Corpus
	by     corpus.Criterion
	params features.Params
	fields []*field // whose texts are joined; nil for the text of the document
	x      *corpus.Extractor
}

// New returns a corpus without documents. Close frees it.
func New(ctx context.Context, rule *pairrule.Rule, o Options) (*Corpus, error) {
	c := &Corpus{rule: rule, o: o, columns: make([]*column, len(rule.Atoms)), differs: make([]*differing, len(rule.Atoms)), viewOf: make([]int, len(rule.Atoms))}
	if !o.Apart {
		c.classes = map[xxh3.Uint128]uint32{}
	}
	for i := range rule.Atoms {
		switch a := &rule.Atoms[i]; a.Kind {
		case pairrule.Equal:
			column, err := c.newColumn(a)
			if err != nil {
				return nil, err
			}
			c.columns[i] = column
		case pairrule.Differ:
			c.differs[i] = c.newDiffering(a)
		default:
			c.viewOf[i] = c.view(a)
		}
	}
	c.texts = make([]string, len(c.views))
	for _, v := range c.views {
		v.Corpus = corpus.New(corpus.Options{
			Sets: v.by.Sets, Measure: v.by.Measure, Fingerprints: !v.by.Sets, Memory: o.Memory / int64(len(c.views)), InputBytes: o.InputBytes, Dir: o.Dir,
		})
		v.x = corpus.NewExtractor(ctx, v.params, v.Corpus)
	}
	c.sortLiterals()
	return c, nil
}

// view returns the number of the view for an atom.
func (c *Corpus) view(a *pairrule.Atom) int {
	v := &view{by: criterionOf(a), params: c.o.Params}
	if a.Unit != "" {
		v.params.Shingle, v.params.Features.Unit = a.Shingle, ""
		if a.Unit == "chars" {
			v.params.Features.Unit = features.Chars
		}
	}
	for _, name := range a.Fields {
		v.fields = append(v.fields, c.field(name))
	}
	for i, w := range c.views {
		equal := w.by.Measure == v.by.Measure && w.by.Sets == v.by.Sets && len(w.fields) == len(v.fields)
		equal = equal && w.params.Shingle == v.params.Shingle && w.params.Features.Unit == v.params.Features.Unit
		for j := 0; equal && j < len(v.fields); j++ {
			equal = w.fields[j] == v.fields[j]
		}
		if equal {
			return i
		}
	}
	c.views = append(c.views, v)
	return len(c.views) - 1
}

// criterionOf returns the criterion of a similarity.
func criterionOf(a *pairrule.Atom) corpus.Criterion {
	switch a.Kind {
	case pairrule.Near:
		return corpus.Criterion{K: a.K}
	case pairrule.Levenshtein:
		return corpus.Levenshtein(a.T)
	case pairrule.Cosine:
		return corpus.Cosine(a.T)
	case pairrule.Contains:
		return corpus.Contained(a.T)
	}
	return corpus.Criterion{Sets: true, T: a.T}
}

// A Doc is a document and the file that it is from, if any.
type Doc struct {
	engine.Doc
	File string
}

// Add adds the next document.
func (c *Corpus) Add(d *Doc) error {
	c.scratch = c.scratch[:0]
	for i, v := range c.views {
		text := d.Text
		if v.fields != nil {
			text = textOf(v.fields, d)
		}
		if c.texts[i] = text; c.classes != nil {
			c.scratch = append(binary.LittleEndian.AppendUint64(c.scratch, uint64(len(text))), text...)
			if v.Fingerprints != nil {
				c.scratch = appendPrints(c.scratch, &d.Doc)
			}
		}
	}
	for _, column := range c.columns {
		if column != nil {
			column.add(d)
			c.scratch = binary.LittleEndian.AppendUint32(c.scratch, column.keys[len(column.keys)-1])
		}
	}
	for _, x := range c.differs {
		if x != nil {
			c.scratch = x.appendWords(c.scratch, d)
		}
	}
	c.N++
	if c.classes != nil {
		class, known := c.classes[xxh3.Hash128(c.scratch)]
		if known {
			for _, column := range c.columns {
				if column != nil {
					column.keys = column.keys[:c.n]
				}
			}
			c.of = append(c.of, class)
			return nil
		}
		c.classes[xxh3.Hash128(c.scratch)] = c.n
	}
	c.of = append(c.of, c.n)
	c.n++
	for _, x := range c.differs {
		if x != nil {
			if err := x.add(); err != nil {
				return err
			}
		}
	}
	for i, v := range c.views {
		of := engine.Doc{ID: d.ID, Text: c.texts[i]}
		if v.Fingerprints != nil && v.fields == nil && (c.o.Params.Ignored == nil || d.Text == "") {
			of.Fingerprints = d.Fingerprints
		}
		if err := v.x.Add(&of, nil); err != nil {
			return err
		}
	}
	return nil
}

// appendPrints appends the fingerprints that a document has from its input.
func appendPrints(dst []byte, d *engine.Doc) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(d.Fingerprints)))
	for _, fp := range d.Fingerprints {
		for _, w := range fp {
			dst = binary.LittleEndian.AppendUint64(dst, w)
		}
	}
	return dst
}

// Finish ends the adding.
func (c *Corpus) Finish() error {
	for _, v := range c.views {
		if err := v.x.Finish(); err != nil {
			return err
		}
	}
	c.classes, c.texts, c.scratch = nil, nil, nil
	for _, column := range c.columns {
		if column != nil {
			column.numbers = nil
		}
	}
	c.first, c.members = grouped(c.of, c.n)
	for i := range c.rule.Atoms {
		if a := &c.rule.Atoms[i]; a.Kind == pairrule.Near {
			if bits := 64 * len(c.views[c.viewOf[i]].Fingerprints); a.K > bits {
				return fmt.Errorf("%s: a fingerprint has %d bits: %w", a, bits, engine.ErrInvalid)
			}
		}
	}
	return nil
}

// Unknown returns a field that the rule names and no document has, or nil.
func (c *Corpus) Unknown() *docfield.Field {
	for _, f := range c.fields {
		if !f.found && c.N > 0 {
			return &f.of
		}
	}
	return nil
}

// grouped returns items grouped by their numbers, which are below n: those with number i are
// items[first[i]:first[i+1]], ascending.
func grouped(numbers []uint32, n uint32) (first, items []uint32) {
	first, items = make([]uint32, n+1), make([]uint32, len(numbers))
	for _, number := range numbers {
		first[number+1]++
	}
	for i := range n {
		first[i+1] += first[i]
	}
	next := append([]uint32(nil), first...)
	for item, number := range numbers {
		items[next[number]] = uint32(item)
		next[number]++
	}
	return first, items
}

// class returns the documents of a class.
func (c *Corpus) class(n uint32) []uint32 { return c.members[c.first[n]:c.first[n+1]] }

// Close ends the goroutines, and frees the files.
func (c *Corpus) Close() error {
	var all []error
	for _, v := range c.views {
		v.x.Stop()
		all = append(all, v.Corpus.Close())
	}
	for _, x := range c.differs {
		if x != nil {
			all = append(all, x.bags.Close())
		}
	}
	return errors.Join(all...)
}
