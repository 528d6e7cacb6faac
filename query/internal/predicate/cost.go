package predicate

import (
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
)

// The costs of drivers, in nanoseconds, by which a query chooses among them. The constants are
// rough: they decide between drivers whose costs differ by orders of magnitude.
const (
	lookupCost  = 2000 // an id is looked up
	listCost    = 150  // an entry is listed
	timeCost    = 10   // its time is compared
	probeCost   = 100  // a range is looked up in a permuted table
	scanCost    = 1    // a fingerprint is scanned, or a candidate compared
	postingCost = 4    // a posting is read
	sketchCost  = 150  // a sketch is compared
	bitmapCost  = 3    // the bitmap of a sketch is scanned
	jaccardCost = 5000 // a JACCARD is set up
)

// nearCost estimates the cost of NEAR from the engine's plan for it.
func (x *Scope) nearCost(fp base.Fingerprint, k int) float64 {
	p, err := x.Snap.PlanNear(x.Ctx, fp, k)
	if err != nil {
		return 0 // the query itself will return the error
	}
	sum := 0.0
	for _, part := range p.Parts {
		if part.Method == "scan" {
			sum += scanCost * float64(part.Documents)
		} else {
			sum += probeCost*float64(part.Probes) + scanCost*float64(part.Candidates)
		}
	}
	return sum
}

// jaccardPlanCost estimates the cost of a JACCARD from the engine's plan for it.
func jaccardPlanCost(parts []engine.PartPlan) float64 {
	sum := float64(jaccardCost)
	for _, part := range parts {
		sum += postingCost*float64(part.Probes) + sketchCost*float64(part.Candidates)
		if part.Method == "scan" {
			sum += bitmapCost * float64(part.Documents)
		}
	}
	return sum
}

// Documents returns about how many documents there are.
func (x *Scope) Documents() float64 {
	if x.documents == nil {
		sum := 0.0
		if p, err := x.Snap.PlanNear(x.Ctx, 0, 0); err == nil {
			for _, part := range p.Parts {
				sum += float64(part.Documents)
			}
		}
		x.documents = &sum
	}
	return *x.documents
}
