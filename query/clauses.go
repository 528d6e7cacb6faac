package query

import (
	"math"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// clauses are what stands behind an expression.
type clauses struct {
	since   *sincePredicate
	order   []orderKey
	orderAt []int // offset of each key
	window
	verify *lexer.Token
}

func (x *run) bindClauses(list []*clause) (*clauses, error) {
	c := &clauses{window: window{limit: -1}}
	seen := make(map[string]bool)
	for _, e := range list {
		var err error
		var name string
		at := 0
		switch {
		case e.Since != nil:
			name, at = "SINCE", e.Since.Word.Pos.Offset
			c.since, err = x.bindSince(e.Since)
		case e.Limit != nil:
			name, at = "LIMIT", e.Limit.Pos.Offset
			c.limit, err = x.values.integer(*e.Limit, "LIMIT", 0, math.MaxInt)
		case e.Offset != nil:
			name, at = "OFFSET", e.Offset.Pos.Offset
			c.offset, err = x.values.integer(*e.Offset, "OFFSET", 0, math.MaxInt)
		case e.Verify != nil:
			name, at = "VERIFY", e.Verify.Pos.Offset
			c.verify = e.Verify
		default:
			name, at = "ORDER BY", e.Order[0].Key.Pos.Offset
			err = x.bindOrder(c, e.Order)
		}
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, errorAt(x.p.text, at, "", "%s stands here a second time", name)
		}
		seen[name] = true
	}
	return c, nil
}

var orderNames = []string{"id", "distance", "score", "time"}

func (x *run) bindOrder(c *clauses, terms []*orderTerm) error {
	for _, t := range terms {
		by := strings.ToLower(t.Key.Value)
		if !slices.Contains(orderNames, by) {
			hint := suggest(by, orderNames)
			if hint == "" {
				hint = "ORDER BY takes id, distance, score or time"
			}
			return errorAt(x.p.text, t.Key.Pos.Offset, hint, "there is no %q to order by", t.Key.Value)
		}
		c.order = append(c.order, orderKey{by: by, desc: t.Desc != nil})
		c.orderAt = append(c.orderAt, t.Key.Pos.Offset)
	}
	return nil
}

// checkOrder completes the order, and refuses keys that the rows do not have.
func (x *run) checkOrder(sel *selection, c *clauses) error {
	for i, k := range sel.order {
		switch {
		case k.by == "distance" && !sel.distance:
			return errorAt(x.p.text, c.orderAt[i], "it comes from NEAR and NEAREST", "there is no distance to order by")
		case k.by == "score" && !sel.score:
			return errorAt(x.p.text, c.orderAt[i], "it comes from JACCARD, LEVENSHTEIN and COSINE", "there is no score to order by")
		case k.by == "time":
			sel.times = true
		}
	}
	if len(sel.order) == 0 {
		if sel.distance {
			sel.order = append(sel.order, orderKey{by: "distance"})
		}
		if sel.score {
			sel.order = append(sel.order, orderKey{by: "score", desc: true})
		}
	}
	if !slices.ContainsFunc(sel.order, func(k orderKey) bool { return k.by == "id" }) {
		sel.order = append(sel.order, orderKey{by: "id"})
	}
	return nil
}
