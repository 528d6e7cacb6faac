package hamming

import "math"

// LayoutBySize, the zero Layout, stands for the one that ChooseLayout returns. It is no layout that
// a table can have.
var LayoutBySize = Layout{}

// sizeLayouts are the layouts of tables by size, each for tables of up to a number of fingerprints.
// The limits are constants, not results of the cost model, so that a table is the same on every
// processor. TestChooseLayout compares them with the model.
var sizeLayouts = []struct {
	most   int64
	layout Layout
}{
	{24 << 20, Layout{Blocks: 4, Lead: 1}},
	{2 << 30, Layout{Blocks: 3, Lead: 1}},
	{math.MaxInt64, Layout{Blocks: 2, Lead: 1}},
}

// ChooseLayout returns the layout for a table of n fingerprints.
func ChooseLayout(n int64) Layout {
	for _, s := range sizeLayouts {
		if n <= s.most {
			return s.layout
		}
	}
	return DefaultLayout
}
