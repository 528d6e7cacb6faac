package repl

import (
	"context"
	"errors"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/quantity"
)

// administer runs an administrative command and prints its result. .stats on and off set a switch
// instead.
func (s *session) administer(c *admin.Command, arg string) error {
	if c.Name == "stats" && arg != "" {
		return toggle(func(s *session) *bool { return &s.stats })(s, arg)
	}
	args, err := words(strings.TrimRight(arg, "; "))
	if err != nil {
		return err
	}
	if len(args) != len(strings.Fields(c.Arguments)) {
		return usage(c.Name, c.Arguments)
	}
	run := func(ctx context.Context, db *engine.DB) error {
		started := quantity.Start() // after the wait for the database
		report, stopReport := s.cfg.progress()
		defer stopReport()
		report(engine.Progress{Stage: "run"})
		r, err := c.Run(ctx, db, args, report)
		if err != nil {
			return err
		}
		s.damage = s.damage || r.Damage()
		return s.show(r, started.Elapsed, stopReport)
	}
	if c.Writes {
		return s.writeAtOnce(run)
	}
	return s.inTurn(false, run)
}

// writeAtOnce runs a command whose writes cannot be part of a transaction. It returns an error
// within one.
func (s *session) writeAtOnce(run func(ctx context.Context, db *engine.DB) error) error {
	if _, begun := s.statements.Pending(); begun {
		return errors.New("this writes at once, outside of the transaction: COMMIT or ROLLBACK first")
	}
	return s.inTurn(true, run)
}

// inTurn runs a statement or a command on the database, open for writing if it writes.
func (s *session) inTurn(writes bool, run func(ctx context.Context, db *engine.DB) error) error {
	ctx, stop := s.interruptible()
	defer stop()
	db, err := s.turns.begin(ctx, writes)
	if err != nil {
		return err
	}
	defer s.turns.end()
	return run(ctx, db)
}

// Writes reports whether a command of Exec may change the database. known is false if that depends
// on a file that the command reads.
func Writes(command string) (writes, known bool) {
	sc := newScript(strings.NewReader(command))
	known = true
	for {
		p, dot, err := sc.next()
		switch {
		case err != nil:
			return writes, known
		case dot:
			name, _ := cutDot(p.Text)
			c := admin.Named(name)
			writes = writes || c != nil && c.Writes
			known = known && name != "read" && name != "import"
		default:
			writes = writes || front.Language.Writes(p.Text, false)
		}
	}
}
