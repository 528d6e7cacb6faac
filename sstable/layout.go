package sstable

import "github.com/simdb/simdb/sstable/internal/hamming"

// Layout says how the 64 bits of a fingerprint are split and which of them lead each permuted table
// (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007, section 3). The
// bits are cut into Blocks consecutive blocks, most significant first, of sizes that differ by at
// most one (the larger ones first); every choice of Lead of them leads one table.
//
//	4:1   4 tables, led by 16 bits each                    2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits
//	8:2  28 tables, 16 bits
//
// A Lead of 0 nests: every block in turn leads, followed by one part of the other bits, which are
// cut into as many parts again.
//
//	4x4  16 tables, led by 16 + 12 bits
//
// Table 0 is led by the first of everything, and its permutation is the identity. Layouts with Lead
// 1 rotate the fingerprint; the others move the leading bits to the front and keep the order of the
// rest.
type Layout struct {
	Blocks int // m, 1..16
	Lead   int // c, blocks that lead a table, 1..Blocks; 0: nested
}

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = Layout(hamming.DefaultLayout)

// LayoutBySize is the zero Layout. It leaves the layout to the writer of each table:
// Params.ForTable puts the one there that ChooseLayout returns. Parameters of a database may have
// it, those of a table never do.
var LayoutBySize = Layout(hamming.LayoutBySize)

// ChooseLayout returns the layout for a table of n fingerprints, by n alone:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
//
// More fingerprints need longer leads, so that a search still compares few of them; shorter leads
// make fewer probes. docs/performance.md has the measurements behind the limits.
func ChooseLayout(n int64) Layout { return Layout(hamming.ChooseLayout(n)) }

// ParseLayout reads "4:1", or "4", which means the same, or "4x4".
func ParseLayout(s string) (Layout, error) {
	l, err := hamming.ParseLayout(s)
	return Layout(l), err
}

// Layouts are the layouts that are worth comparing: few tables with radii, the classic choices of
// Manku et al., and a nested one.
func Layouts() []Layout {
	var all []Layout
	for _, l := range hamming.Layouts() {
		all = append(all, Layout(l))
	}
	return all
}

// String returns the form that ParseLayout reads; "by size" for LayoutBySize.
func (l Layout) String() string { return hamming.Layout(l).String() }

// Validate reports whether the layout is one that tables can be built with.
func (l Layout) Validate() error { return hamming.Layout(l).Validate() }

// Tables returns the number of permuted tables: the ways of choosing Lead of Blocks, or of a block
// and a part.
func (l Layout) Tables() int { return hamming.Layout(l).Tables() }

// Permute moves the bits of a fingerprint to where table has them. Layout and table must be valid.
func (l Layout) Permute(table int, fp Fingerprint) uint64 {
	return hamming.Layout(l).Permute(table, fp)
}

// Unpermute is the inverse of Permute.
func (l Layout) Unpermute(table int, key uint64) Fingerprint {
	return hamming.Layout(l).Unpermute(table, key)
}

// LeadMask returns the bits of a fingerprint that lead table, as a mask. Layout and table must be
// valid.
func (l Layout) LeadMask(table int) Fingerprint { return hamming.Layout(l).LeadMask(table) }

// Estimate says what a layout costs: space, and the work and time of a search.
type Estimate struct {
	Layout     Layout
	Tables     int
	Bytes      float64 // of the permuted tables, for each fingerprint
	Method     string  // "probe" or "scan", of most searches
	Probes     float64 // ranges looked up by a search, on average
	Candidates float64 // keys compared by it
	Cost       float64 // nanoseconds on one core, by the cost model that searches are planned with
}

// EstimateNear returns what searches within k of n uniform fingerprints cost with layout l.
func EstimateNear(l Layout, n int64, k int) (Estimate, error) {
	e, err := hamming.EstimateUniform(hamming.Layout(l), n, k)
	return Estimate{Layout(e.Layout), e.Tables, e.Bytes, e.Method, e.Probes, e.Candidates, e.Cost}, err
}
