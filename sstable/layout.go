package sstable

import "github.com/simdb/simdb/sstable/internal/hamming"

// Layout says how the 64 bits of a fingerprint are split and which of them lead each permuted table
// (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007, section 3):
//
//	type Layout struct {
//		Blocks int // the bits are cut into as many blocks, 1..16
//		Lead   int // blocks that lead a table, 1..Blocks; 0: a block and a part of the others
//	}
//
//	4:1   4 tables, led by 16 bits each                    2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits
//	8:2  28 tables, 16 bits                                4x4  16 tables, 16 + 12 bits
type Layout = hamming.Layout

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = hamming.DefaultLayout

// LayoutBySize is the zero Layout. It leaves the layout to the writer of each table:
// Params.ForTable puts the one there that ChooseLayout returns. Parameters of a database may have
// it, those of a table never do.
var LayoutBySize = hamming.LayoutBySize

// ChooseLayout returns the layout for a table of n fingerprints, by n alone:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
func ChooseLayout(n int64) Layout { return hamming.ChooseLayout(n) }

// ParseLayout reads "4:1", or "4", which means the same, or "4x4".
func ParseLayout(s string) (Layout, error) { return hamming.ParseLayout(s) }

// Layouts are the layouts that are worth comparing: few tables with radii, the classic choices of
// Manku et al., and a nested one.
func Layouts() []Layout { return hamming.Layouts() }

// Estimate says what a layout costs: space, and the work and time of a search:
//
//	type Estimate struct {
//		Layout     Layout
//		Tables     int
//		Bytes      float64 // of the permuted tables, for each fingerprint
//		Method     string  // "probe" or "scan", of most searches
//		Probes     float64 // ranges looked up by a search, on average
//		Candidates float64 // keys compared by it
//		Cost       float64 // nanoseconds on one core, by the cost model of searches
//	}
type Estimate = hamming.Estimate

// EstimateNear returns what searches within k of n uniform fingerprints cost with layout l.
func EstimateNear(l Layout, n int64, k int) (Estimate, error) {
	return hamming.EstimateUniform(l, n, k)
}
