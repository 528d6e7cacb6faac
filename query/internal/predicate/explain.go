package predicate

import (
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

const (
	matchesNothing = ": a text without words matches nothing"
	nothingInEmpty = ": an empty text matches nothing"
)

// finding is the line of EXPLAIN that names a driver.
func finding(d Driver) string { return "find " + d.String() }

// explainParts describes the plan of a driver: head, then a line for each part of the database.
func explainParts(head string, parts []engine.PartPlan, err error) []string {
	lines := []string{head}
	if err != nil {
		return append(lines, "  "+err.Error())
	}
	for _, part := range parts {
		lines = append(lines, "  "+explainPart(part))
	}
	return lines
}

func explainPart(p engine.PartPlan) string {
	of := quantity.Plain(p.Documents, "document", "documents")
	candidates := quantity.Plain(p.Candidates, "candidate", "candidates")
	switch p.Method {
	case "scan":
		return fmt.Sprintf("%s: scan %s", p.Part, of)
	case "signatures":
		return fmt.Sprintf("%s: %s, %s of %s", p.Part, quantity.Plain(p.Probes, "signature", "signatures"), candidates, of)
	case "index":
		return fmt.Sprintf("%s: index, %s, %s of %s", p.Part, quantity.Plain(p.Probes, "entry", "entries"), candidates, of)
	case "sign":
		return fmt.Sprintf("%s: read the texts of %s to make their signatures, once", p.Part, of)
	case "postings":
		return fmt.Sprintf("%s: %s, about %s of %s", p.Part, quantity.Plain(p.Probes, "posting", "postings"), candidates, of)
	}
	return fmt.Sprintf("%s: %s with radii %v, about %s of %s", p.Part, quantity.Plain(p.Probes, "probe", "probes"), p.Radii, candidates, of)
}
