package predicate

import "github.com/simdb/simdb/engine"

// Costs in nanoseconds of operations that the engine does not plan. A query compares its drivers by
// cost, so rough constants suffice: they decide between costs that differ by orders of magnitude.
const (
	lookupCost  = 2000 // look up an id
	listCost    = 150  // list an entry
	readCost    = 300  // read a document's text and fields, in storage order
	blockCost   = 40e3 // read the text and fields of a single document
	timeCost    = 10   // compare a time
	jaccardCost = 5000 // set up a JACCARD
	similarCost = 5000 // set up another comparison of texts
)

// similarShare is the share of documents assumed to be similar to a text.
const similarShare = 0.01

// planCost returns the cost of a search, which the engine estimates in its plan. If there is no
// plan, planCost returns 0, because the search itself will return the error.
func planCost(parts []engine.PartPlan, err error) float64 {
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, part := range parts {
		sum += part.Cost
	}
	return sum
}

// Documents estimates how many documents there are.
func (x *Scope) Documents() float64 {
	n, _ := x.Snap.Estimate(x.Ctx, engine.Range{}) // it fails only by Fields
	return float64(n)
}
