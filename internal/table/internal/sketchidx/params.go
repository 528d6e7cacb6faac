package sketchidx

// Params are the parameters of a table that affect its sketches.
type Params struct {
	Size       uint32  // N: the maximum number of hashes in a sketch
	MinJaccard float64 // least threshold that postings answer
	Odd        bool    // bitmaps are odd sketches of the sets of features, not bitmaps of sketches
}
