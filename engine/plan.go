package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/search"
)

// PlanNear returns how Near(fp, k) would be carried out: a part for each table, then one for each
// memtable. It reads directories only. The error is ErrInvalid for k outside 0..64, ErrClosed, or
// that of the context.
func (s *Snapshot) PlanNear(ctx context.Context, fp Fingerprint, k int) (NearPlan, error) {
	parts, err := search.PlanNear(ctx, &s.v, fp, k)
	return NearPlan{K: k, Parts: partPlans(parts)}, err
}

// PlanJaccard returns how Jaccard(doc, t), or by a verified criterion JaccardVerified, would be
// carried out: a part for each table, then one for each memtable. It reads postings, but neither
// bitmaps nor sketches. The error is ErrInvalid if the criterion is not one of Jaccard, and
// otherwise as that of Jaccard.
func (s *Snapshot) PlanJaccard(ctx context.Context, doc Doc, by Criterion) ([]PartPlan, error) {
	parts, err := search.PlanJaccard(ctx, &s.v, doc.sample(), by.by)
	return partPlans(parts), err
}

func partPlans(parts []search.PartPlan) []PartPlan {
	var plans []PartPlan
	for _, p := range parts {
		plans = append(plans, PartPlan{p.Part, p.Documents, PlanMethod(p.Method), p.Radii, p.Probes, p.Candidates, p.Cost})
	}
	return plans
}
