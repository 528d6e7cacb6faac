package app

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/quantity"
)

// TooMany reports whether n near-duplicates of one document, among all documents, deserve a
// warning: they are more than 1 % of all, and at least 100.
func TooMany(n, all int64) bool { return n >= 100 && n*100 > all }

// LargeAdvice says what to do about a cluster that has TooMany documents.
const LargeAdvice = "so many are often an error page, an empty form, or one template: look at some of them; --level paragraph removes what many texts share"

// ClusterSizes are the sizes of clusters as they are listed, for a warning about those that have
// TooMany documents.
type ClusterSizes struct {
	large []largeCluster
	now   largeCluster
}

// largeCluster is a cluster, and the ID of its keeper.
type largeCluster struct {
	number int
	n      int64
	id     string
}

// Add takes the next member, in the order of clusters.
func (c *ClusterSizes) Add(cluster int, id string, keep bool) {
	if cluster != c.now.number {
		c.end()
		c.now = largeCluster{number: cluster}
	}
	if c.now.n++; keep {
		c.now.id = id
	}
}

// end ends the cluster that is listed. The largest come first.
func (c *ClusterSizes) end() {
	const most = 3
	if c.now.n > 0 && len(c.large) < most {
		c.large = append(c.large, c.now)
	}
}

// Warn says which clusters have TooMany of all documents.
func (c *ClusterSizes) Warn(a *App, all int64) {
	c.end()
	for _, l := range c.large {
		if TooMany(l.n, all) {
			a.Say("warning: cluster %d has %s, %.1f %% of all, near-duplicates of %s; %s",
				l.number, quantity.Count(l.n, "document"), 100*float64(l.n)/float64(all), l.id, LargeAdvice)
		}
	}
}

// Prints watches fingerprints for those that say nothing: all bits 0 or all 1, which are often the
// hash of nothing, and such as very many documents have. The zero Prints is ready to use.
type Prints struct {
	N, Zero, Ones int64
	rest          int // words of each after the first
	counters      counters
}

// Add takes the fingerprint of a document: its first word, and the others.
func (p *Prints) Add(fp base.Fingerprint, rest ...base.Fingerprint) {
	p.N++
	p.rest = len(rest)
	same := !slices.ContainsFunc(rest, func(w base.Fingerprint) bool { return w != fp })
	switch {
	case fp == 0 && same:
		p.Zero++
	case fp == ^base.Fingerprint(0) && same:
		p.Ones++
	default:
		p.counters.add(PrintKey(fp, rest...))
	}
}

// PrintKey is what a fingerprint is counted by: itself, or a hash of several words.
func PrintKey(fp base.Fingerprint, rest ...base.Fingerprint) base.Fingerprint {
	for _, w := range rest {
		const odd = 0x9e3779b97f4a7c15
		fp = bits.RotateLeft64(fp, 31)*odd ^ w
	}
	return fp
}

// Name says which fingerprint it is that many have.
func (p *Prints) Name(c Common) string {
	if p.rest > 0 {
		return "the same fingerprint"
	}
	return fmt.Sprintf("the fingerprint %016x", c.Fingerprint)
}

// Common is a fingerprint that at least N documents have, or the PrintKey of one.
type Common struct {
	Fingerprint base.Fingerprint
	N           int64
}

// Common returns the fingerprints other than 0 and ffffffffffffffff that TooMany documents have,
// the most common one first. What is counted too low may be missed: up to 1.4 % instead of 1 %.
func (p *Prints) Common() (all []Common) {
	for _, c := range p.counters.slots {
		if TooMany(c.N, p.N) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Common) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all
}

// Warnings says in a sentence each what is wrong with the fingerprints that came with the input.
func (p *Prints) Warnings() (all []string) {
	for _, c := range []struct {
		n    int64
		what string
	}{{p.Zero, "0"}, {p.Ones, strings.Repeat("ffffffffffffffff", 1+p.rest)}} {
		if c.n > 1 {
			all = append(all, fmt.Sprintf("%s have the fingerprint %s, which is often that of nothing; they are near-duplicates of each other: leave them out of the input if they are not alike",
				quantity.Count(c.n, "document"), c.what))
		}
	}
	for _, c := range p.Common() {
		all = append(all, fmt.Sprintf("at least %s have %s: if they are not alike, the program that made it has hashed what they share, such as an error message",
			quantity.Count(c.N, "document"), p.Name(c)))
	}
	return all
}

const (
	// candidates is how many fingerprints are counted. One that more than N/candidates documents
	// have is among them.
	candidates = 256

	counterBits = 9 // of the number of slots: half of them stay empty
)

// counters count the most common fingerprints, each by too little if anything (Misra and Gries:
// Finding Repeated Elements, 1982). They are an open hash table with linear probing, in which a
// slot is empty if its N is 0.
type counters struct {
	slots [1 << counterBits]Common
	used  int
}

// slot returns the slot of a fingerprint, or the empty one where it goes.
func (c *counters) slot(fp base.Fingerprint) *Common {
	const golden = 0x9e3779b97f4a7c15 // spreads what is alike (Knuth, volume 3, 6.4)
	for at := uint64(fp) * golden >> (64 - counterBits); ; at = (at + 1) % uint64(len(c.slots)) {
		if s := &c.slots[at]; s.N == 0 || s.Fingerprint == fp {
			return s
		}
	}
}

// add counts fp. If it is not counted, and has no place, every count is less by one instead.
func (c *counters) add(fp base.Fingerprint) {
	s := c.slot(fp)
	switch {
	case s.N > 0:
		s.N++
	case c.used < candidates:
		*s = Common{fp, 1}
		c.used++
	default:
		c.decrement()
	}
}

// decrement subtracts one from every count, and rebuilds the slots of the counts that are left.
func (c *counters) decrement() {
	var left [candidates]Common
	n := 0
	for _, s := range c.slots {
		if s.N > 1 {
			left[n] = Common{s.Fingerprint, s.N - 1}
			n++
		}
	}
	clear(c.slots[:])
	c.used = n
	for _, s := range left[:n] {
		*c.slot(s.Fingerprint) = s
	}
}
