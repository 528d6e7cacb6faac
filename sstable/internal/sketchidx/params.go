package sketchidx

// Params are the parameters of a table that its sketches depend on.
type Params struct {
	Size       uint32  // N: the most hashes that a sketch has
	MinJaccard float64 // least threshold that postings answer
}
