package search

import (
	"cmp"
	"context"
	"fmt"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// PartPlan is the plan of a search in one table or memtable; engine.PartPlan documents the fields.
type PartPlan struct {
	Part       string
	Documents  int
	Method     string
	Radii      []int
	Probes     int
	Candidates int
	Cost       float64
}

// PlanNear returns the plan of a search by Near. It reads directories only.
func PlanNear(ctx context.Context, v *view.View, fp []base.Fingerprint, k int) (parts []PartPlan, err error) {
	if err := cmp.Or(v.CheckDistance(k), v.CheckWords(len(fp))); err != nil {
		return nil, err
	}
	err = v.Safely(ctx, func() error {
		q := nearPool.Get().(*Near)
		defer nearPool.Put(q)
		small := v.Version.Small()
		apart := small.Apart
		if plan := planNearMem(len(small.FPs), len(fp), k); small.Tables > 0 && (len(fp) == 1 || plan.Radii != nil) {
			plan.Part, plan.Documents = fmt.Sprintf("%d small tables", small.Tables), small.Size
			parts = append(parts, plan)
		} else {
			apart = small.All
		}
		for _, p := range apart {
			plan, err := q.group.Plan(p.Reader, fp, k)
			if err != nil {
				return err
			}
			parts = append(parts, PartPlan{
				Part: "table " + p.Name, Documents: int(p.NumDocs()), Method: plan.Method, Radii: plan.Radii,
				Probes: int(plan.Probes), Candidates: int(plan.Candidates), Cost: plan.Cost,
			})
		}
		return nil
	})
	return append(parts, planMemtables(v, func(m view.MemView) PartPlan { return planNearMem(len(m.FPs), len(fp), k) })...), err
}

// PlanJaccard returns the plan of a search by Jaccard. It reads postings, but neither bitmaps nor
// sketches.
func PlanJaccard(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (parts []PartPlan, err error) {
	var x target
	err = v.Safely(ctx, func() (err error) {
		if x, err = jaccardTarget(v, sample, by); err != nil {
			return err
		}
		var scratch table.JaccardSearcher
		for i := range v.Version.Parts {
			p := &v.Version.Parts[i]
			plan, err := scratch.JaccardPlan(p.Reader, x.query())
			if err != nil {
				return err
			}
			parts = append(parts, PartPlan{
				Part: "table " + p.Name, Documents: int(p.NumDocs()), Method: plan.Method, Probes: plan.Postings,
				Candidates: plan.Candidates, Cost: plan.Cost,
			})
		}
		return nil
	})
	return append(parts, planMemtables(v, func(m view.MemView) PartPlan {
		plan := new(memindex.Searcher).EstimateSketches(m.Sketches, len(m.Bitmaps), x.sketch, x.t)
		p := PartPlan{Method: "scan", Candidates: plan.Candidates, Cost: plan.Cost}
		if plan.Indexed {
			p.Method, p.Probes = "postings", plan.Postings
		}
		return p
	})...), err
}

// jaccardTarget returns the target of a search by a Jaccard criterion.
func jaccardTarget(v *view.View, sample Sample, by view.Criterion) (x target, err error) {
	if !by.Jaccard {
		return x, fmt.Errorf("NEAR %d is not a Jaccard criterion: %w", by.K, files.ErrInvalid)
	}
	if err := v.CheckCriterion(by); err != nil {
		return x, err
	}
	sketch, err := sample.sketch(v)
	return newTarget(v, sketch, nil, by), err
}

// planMemtables returns the plans of the memtables, made by of.
func planMemtables(v *view.View, of func(view.MemView) PartPlan) (parts []PartPlan) {
	for _, m := range v.Mems {
		if n := len(m.Docs); n > 0 {
			p := of(m)
			p.Part, p.Documents = "memtable", n
			parts = append(parts, p)
		}
	}
	return parts
}

// planNearMem returns the plan for n fingerprints in memory by distance. words is the number of
// words per fingerprint.
func planNearMem(n, words, k int) PartPlan {
	plan := memindex.Estimate(n, k/words) // for each word
	plan.Probes, plan.Cost = plan.Probes*words, plan.Cost*float64(words)
	p := PartPlan{Method: "scan", Candidates: plan.Visits, Cost: plan.Cost}
	if plan.Radii != nil {
		p.Method, p.Radii, p.Probes = "probe", plan.Radii, plan.Probes
	}
	return p
}
