package rulejoin

import (
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/pairrule"
)

// A Grouper numbers the groups of documents that the limits of a criterion distinguish: joins by one
// similarity then need no memory for pairs, and equal documents are not compared in pairs. It is not
// safe for concurrent use.
type Grouper struct {
	c       *Corpus
	all     []pairrule.Literal
	numbers map[[3]uint32]uint32 // by place of a literal, the number by those before it, and key
	next    uint32
	empty   collection.Groups
}

// NewGrouper returns the grouper of limits, as pairrule.Rule.Limited returns them. Of the options, it
// uses Params and TextFields.
func NewGrouper(limits *pairrule.Rule, o Options) (*Grouper, error) {
	g := &Grouper{c: &Corpus{rule: limits, o: o, columns: make([]*column, len(limits.Atoms))}, all: limits.Branches[0], numbers: map[[3]uint32]uint32{}, next: 1}
	for _, l := range g.all {
		column, err := g.c.newColumn(&limits.Atoms[l.Atom])
		if err != nil {
			return nil, err
		}
		a := &limits.Atoms[l.Atom]
		g.c.columns[l.Atom], g.empty.Across = column, g.empty.Across || l.Not
		g.empty.Within = g.empty.Within || !l.Not || a.Of == pairrule.Value && !a.Distinct // what lacks the value is in nothing else
	}
	return g, nil
}

// Groups returns groups without items.
func (g *Grouper) Groups() *collection.Groups { return new(g.empty) }

// May reports whether documents of two groups may match.
func (g *Grouper) May(x, y collection.Group) bool { return g.empty.May(x, y) }

// Of returns the group of a document.
func (g *Grouper) Of(d *Doc) (of collection.Group) {
	g.c.N++
	lone := false
	for place, l := range g.all {
		key := g.c.columns[l.Atom].number(d)
		if lone = lone || key == unknown; l.Not {
			of.Across = key
			continue
		}
		by := [3]uint32{uint32(place), of.In, key}
		number, known := g.numbers[by]
		if !known {
			number = g.next
			g.numbers[by] = number
			g.next++
		}
		of.In = number
	}
	if lone {
		of.In = g.next
		g.next++
	}
	return of
}

// Unknown returns a field that the limits name and no document has, or nil.
func (g *Grouper) Unknown() *docfield.Field { return g.c.Unknown() }
