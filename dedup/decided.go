package dedup

import (
	"slices"

	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/records"
)

// ruleDecided is the audit's rule for a keeper that a decision has chosen.
const ruleDecided = "decision"

func (d *job) readDecisions() error {
	if d.c.Decisions == "" {
		return nil
	}
	if err := d.env.Uses(d.c.Decisions, "the file of decisions"); err != nil {
		return err
	}
	all, err := ReadDecisions(d.ctx, d.c.Decisions, d.env.Say)
	if err != nil {
		return err
	}
	x := newDecided()
	x.all = all
	for i := range all {
		if all[i].Kind == DecisionAllow {
			x.separate(all[i].A, all[i].B)
		} else {
			x.kind[x.number(all[i].A)] = all[i].Kind
		}
	}
	d.decided = x
	return nil
}

// groupBy prepares the limits of matches.
func (d *job) groupBy() error {
	if d.limits == nil {
		return d.c.agreement().refuseFiles(d.rule, d.Sources)
	}
	l, err := d.c.agreement().limit(d.limits, d.params, d.opt, d.Sources)
	if err != nil {
		return err
	}
	if d.decided == nil {
		d.decided = newDecided()
	}
	d.decided.limits, d.decided.groups = l, l.Groups()
	return nil
}

// grouped reports whether matches depend on fields of documents, or on their files.
func (d *job) grouped() bool { return d.rule != nil || d.limits != nil }

func newDecided() *decided {
	return &decided{ids: map[string]uint32{}, apart: map[[2]uint32]bool{}, of: map[uint32]uint32{}}
}

// readAllowed adds the pairs that a database of Against keeps apart by ALLOW.
func (d *job) readAllowed(s *source) {
	for p := range s.Stored.Allowed() {
		if d.decided == nil {
			d.decided = newDecided()
		}
		d.decided.separate(p.A, p.B)
		d.decided.allowed++
	}
}

// separate records that the documents with these ids do not join each other.
func (x *decided) separate(idA, idB string) {
	a, b := x.number(idA), x.number(idB)
	x.apart[[2]uint32{min(a, b), max(a, b)}] = true
}

func (x *decided) number(id string) uint32 {
	n, ok := x.ids[id]
	if !ok {
		n = uint32(len(x.kind))
		x.ids[id], x.kind = n, append(x.kind, "")
	}
	return n
}

// add records the next document under its ordinal.
func (x *decided) add(ordinal int64, rec *records.Record) {
	if x == nil {
		return
	}
	if x.groups != nil {
		x.groups.Of = append(x.groups.Of, x.limits.group(rec))
	}
	if n, ok := x.ids[rec.Doc.ID]; ok {
		x.of[uint32(ordinal)] = n
	}
}

// involved reports whether accept may refuse a document.
func (x *decided) involved(ordinal uint32) bool {
	_, ok := x.of[ordinal]
	return ok || x.groups != nil
}

// groups returns the groups of the documents, nil if any two may match.
func (d *job) groups() *collection.Groups {
	if d.decided == nil {
		return nil
	}
	return d.decided.groups
}

// group implements selfjoin.Apart.Group.
func (x *decided) group(ordinal uint32) (uint64, bool) {
	_, decided := x.of[ordinal]
	if x.groups == nil || decided {
		return 0, false
	}
	return x.groups.Number(ordinal), true
}

// is reports whether a document of the inputs has this decision.
func (x *decided) is(ordinal uint32, kind DecisionKind) bool {
	if x == nil || ordinal < x.known {
		return false
	}
	n, ok := x.of[ordinal]
	return ok && x.kind[n] == kind
}

// accept reports whether two documents may join: their groups may match, they are not an allowed
// pair, and neither must be kept while the other stays as well. It is safe for concurrent use.
func (x *decided) accept(a, b uint32) bool {
	if !x.groups.Accept(a, b) {
		return false
	}
	m, okM := x.of[a]
	n, okN := x.of[b]
	if !okM && !okN {
		return true
	}
	keepA, keepB := x.is(a, DecisionKeep), x.is(b, DecisionKeep)
	if keepA && (keepB || b < x.known) || keepB && a < x.known {
		return false
	}
	return !okM || !okN || !x.apart[[2]uint32{min(m, n), max(m, n)}]
}

// accepts returns accept in the form that joins of sets need, nil if there are no decisions.
func (x *decided) accepts() func(a, b int) bool {
	if x == nil {
		return nil
	}
	return func(a, b int) bool { return x.accept(uint32(a), uint32(b)) }
}

// reorders reports whether decisions change the order of preference.
func (x *decided) reorders() bool {
	return x != nil && slices.ContainsFunc(x.kind, func(k DecisionKind) bool { return k != "" })
}

// reorder moves documents to keep to the front, after those of Against, and documents to drop to
// the end. A nil order is the order of the ordinals.
func (x *decided) reorder(order []uint32, n int64) []uint32 {
	if !x.reorders() {
		return order
	}
	if order == nil {
		order = ordered.Numbers(int(n))
	}
	class := func(ordinal uint32) int {
		switch {
		case ordinal < x.known:
			return 0
		case x.is(ordinal, DecisionKeep):
			return 1
		case x.is(ordinal, DecisionDrop):
			return 3
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return class(a) - class(b) })
	return order
}

// asApart returns accept in the form that joins by fingerprint need; nil for a nil receiver.
func (x *decided) asApart() *selfjoin.Apart {
	if x == nil {
		return nil
	}
	by := x.groups.Apart(selfjoin.Apart{Involved: x.involved, Accept: x.accept, Group: x.group})
	return &by
}

// tellUnused logs how many decisions are about documents that were not read.
func (d *job) tellUnused() {
	if d.decided == nil || d.decided.all == nil {
		return
	}
	read := make([]bool, len(d.decided.kind))
	for _, n := range d.decided.of {
		read[n] = true
	}
	unused := int64(0)
	for i := range d.decided.all {
		if x := &d.decided.all[i]; !read[d.decided.ids[x.A]] || x.Kind == DecisionAllow && !read[d.decided.ids[x.B]] {
			unused++
		}
	}
	if unused > 0 {
		d.env.Say("%s of %s: the documents are not in the files", quantity.Count(unused, "decision"), d.c.Decisions)
	}
}

// auditDecisions describes the file of Decisions for the head of the audit.
func (d *job) auditDecisions() (*AuditInput, error) {
	if d.c.Decisions == "" {
		return nil, nil
	}
	in, err := Digest(d.ctx, d.c.Decisions)
	in.File = d.c.Decisions
	return &in, err
}
