package verbs

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records/inputs"
)

// Apply is `simdb apply`.
type Apply struct {
	DB        string `arg:"" file:"db" help:"The database."`
	Decisions string `arg:"" file:"in" name:"file" help:"Decisions, as the page of simdb review writes them; - is standard input."`
	DryRun    bool   `help:"Write nothing; report what would be done."`
}

// Help explains the decisions.
func (Apply) Help() string {
	return `Each line is a JSON object with the ids "a" and "b" of two near-duplicates, and a "decision":

  drop   a is a duplicate of b: it is deleted
  allow  a is not a duplicate of b: the pair is recorded, as by ALLOW
  keep   a is a duplicate but stays: nothing is done
  none   an earlier decision about the pair is withdrawn: nothing is done

If a line is wrong or an id unknown, nothing is written. Otherwise the pairs are recorded in one write, and then the documents are
deleted in another. Decisions already applied are skipped.`
}

// applied holds the changes that the decisions of a file amount to.
type applied struct {
	allow []engine.Pair
	drop  engine.Batch
	kept  int64
	was   int64 // decisions that had already been applied
}

// Run applies the decisions.
func (c *Apply) Run(a *app.App) (err error) {
	all, err := dedup.ReadDecisions(a.Context(), c.Decisions, a.Env().Say)
	if err != nil {
		return err
	}
	db, err := a.Env().OpenDB(c.DB, inputs.Access{Write: !c.DryRun})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	todo, err := c.check(a.Context(), db, all)
	if err != nil {
		return err
	}
	note := ""
	if c.DryRun {
		note = " (--dry-run: nothing is written)"
	} else if err := todo.write(a.Context(), db); err != nil {
		return err
	}
	a.Say("%s: %s deleted, %s allowed, %s kept, %s applied before%s", c.DB, quantity.Count(int64(todo.drop.Len()), "document"),
		quantity.Count(int64(len(todo.allow)), "pair"), quantity.Number(todo.kept), quantity.Number(todo.was), note)
	return nil
}

// write records the pairs before it deletes the documents, so that the decisions about a deleted
// document are complete.
func (t *applied) write(ctx context.Context, db *engine.DB) error {
	if len(t.allow) > 0 {
		if err := db.SetAllowed(ctx, true, t.allow...); err != nil {
			return err
		}
	}
	if t.drop.Len() == 0 {
		return nil
	}
	return db.Apply(ctx, &t.drop)
}

// check looks up all documents, and returns the changes to make.
func (c *Apply) check(ctx context.Context, db *engine.DB, all []dedup.Decision) (*applied, error) {
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	todo := &applied{}
	known := map[string]bool{}
	stored := func(id string) (bool, error) {
		if is, ok := known[id]; ok {
			return is, nil
		}
		_, err := s.Lookup(ctx, id)
		if err != nil && !errors.Is(err, engine.ErrNotFound) {
			return false, fmt.Errorf("%q: %w", id, err)
		}
		known[id] = err == nil
		return err == nil, nil
	}
	noted := map[engine.Pair]bool{}
	for p := range s.Allowed() {
		noted[p] = true
	}
	dropped := map[string]bool{}
	goes := map[string]bool{} // documents that decisions drop, perhaps in an earlier run
	for i := range all {
		goes[all[i].A] = goes[all[i].A] || all[i].Kind == dedup.DecisionDrop
	}
	wrong := dedup.Problems{Path: c.Decisions}
	for i := range all {
		d := &all[i]
		hasA, err := stored(d.A)
		if err != nil {
			return nil, err
		}
		hasB, err := stored(d.B)
		if err != nil {
			return nil, err
		}
		switch pair := d.Pair(); {
		case d.Kind == dedup.DecisionAllow && noted[pair]:
			todo.was++
		case !hasB && !goes[d.B]:
			wrong.Add(d.Line, "%s has no document %q", c.DB, d.B)
		case !hasA && !goes[d.A]:
			wrong.Add(d.Line, "%s has no document %q", c.DB, d.A)
		case !hasA || dropped[d.A] && d.Kind == dedup.DecisionDrop || !hasB && d.Kind == dedup.DecisionAllow:
			todo.was++
		case d.Kind == dedup.DecisionDrop:
			dropped[d.A] = true
			todo.drop.Delete(d.A)
		case d.Kind == dedup.DecisionAllow:
			noted[pair] = true
			todo.allow = append(todo.allow, pair)
		default:
			todo.kept++
		}
	}
	return todo, wrong.Err()
}
