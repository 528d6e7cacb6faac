package predicate

import "github.com/simdb/simdb/engine"

// The costs in nanoseconds of what the engine does not plan. A query chooses among drivers by their
// costs, so the constants may be rough: they decide between costs that differ by orders of
// magnitude.
const (
	lookupCost  = 2000 // an id is looked up
	listCost    = 150  // an entry is listed
	readCost    = 300  // its text and fields are read, in the order in which they are stored
	blockCost   = 40e3 // its text and fields are read alone
	timeCost    = 10   // its time is compared
	jaccardCost = 5000 // a JACCARD is set up
	similarCost = 5000 // another comparison of texts is set up
)

// similarShare is the share of documents that a text is taken to be similar to.
const similarShare = 0.01

// planCost returns the cost of a search: that of its plan, which the engine estimates. It is 0 if
// there is no plan, as then the search itself returns the error.
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

// Documents returns about how many documents there are.
func (x *Scope) Documents() float64 { return float64(x.Snap.Size()) }
