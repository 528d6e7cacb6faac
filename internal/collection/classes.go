package collection

import "github.com/simdb/simdb/internal/selfjoin"

// Classes are items that are joined as one, as they have equal fingerprints, sets or texts.
type Classes struct {
	N     int
	Items []uint32 // items, grouped by class; nil: all items in their order
	First []uint32 // by class: its start in Items, followed by the end of the last class; nil: each class is one item
	Of    []uint32 // by item: its class; nil if pairs within a class are yielded class by class, else they are yielded by item
}

// ClassesOf returns the classes of items, given a number below n for each, which equal items share.
// Classes are numbered in the order of their first items. ClassesOf replaces each number by
// the number of its class.
func ClassesOf(numbers []uint32, n int) Classes {
	renumbered, c := make([]uint32, n), Classes{Of: numbers} // numbers of classes + 1
	for i, number := range numbers {
		class := &renumbered[number]
		if *class == 0 {
			c.N++
			*class = uint32(c.N)
		}
		numbers[i] = *class - 1
	}
	if c.N == len(numbers) {
		return Classes{N: c.N}
	}
	d := selfjoin.Documents{Codes: numbers}
	c.First, c.Items = d.Having(c.N)
	return c
}

// A Span is a range of places in Classes.Items, from Lo up to Hi.
type Span struct{ Lo, Hi uint32 }

// Len returns the number of places.
func (s Span) Len() int { return int(s.Hi - s.Lo) }

// Span returns the places of a class.
func (c *Classes) Span(class uint32) Span {
	if c.First == nil {
		return Span{class, class + 1}
	}
	return Span{c.First[class], c.First[class+1]}
}

// Item returns the item at a place.
func (c *Classes) Item(at uint32) uint32 {
	if c.Items == nil {
		return at
	}
	return c.Items[at]
}

// Firsts returns the first item of each class.
func (c *Classes) Firsts() []uint32 {
	firsts := make([]uint32, c.N)
	for class := range firsts {
		firsts[class] = c.Item(c.Span(uint32(class)).Lo)
	}
	return firsts
}
