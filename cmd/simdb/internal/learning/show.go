package learning

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
)

// show writes the rule, and says how good it is, and names pairs that it would drop.
func (c *Command) show(a *app.App, l *learn.Lesson) error {
	text := c.ruleText(l)
	if outfile.IsStdout(cmp.Or(c.Output, "-")) {
		if _, err := io.WriteString(a.Out, text); err != nil {
			return err
		}
	} else {
		w, err := a.Create("-o", c.Output, outfile.Rule)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		if err := w.Commit(); err != nil {
			return err
		}
	}
	a.Say("%s", l.Rule)
	a.Say("%s", agreement(l))
	switch l.Same {
	case l.Labels:
		a.Say("no label says that two documents differ, so the threshold is only a guess: label less similar pairs, or --ask about some")
	case 0:
		a.Say("no label says that two documents are the same, so the threshold is only a guess: label more similar pairs, or --ask about some")
	}
	if l.Plain < l.Right {
		a.Say("a threshold alone would agree with %d: %s", l.Plain, l.Threshold)
	}
	for _, w := range l.Wrong {
		a.Say("the rule disagrees with the label of %s and %s", app.OneLine(w.A), app.OneLine(w.B))
	}
	a.Say("about %s pairs of different texts match", quantity.Number(int64(math.Round(l.Matches))))
	for _, of := range []struct {
		what  string
		pairs []learn.Pair
	}{{"it just drops", l.Drops}, {"it just spares", l.Spares}} {
		for _, p := range of.pairs {
			a.Say("%s: %s and %s: %s", of.what, app.OneLine(p.A), app.OneLine(p.B), app.OneLine(words(p)))
		}
	}
	if c.Output != "" {
		a.Say("simdb dedup %s --rule %s -o kept.jsonl", app.ShellWord(c.Data), app.ShellWord(c.Output))
	}
	return nil
}

// ruleText returns the content of the file of the rule.
func (c *Command) ruleText(l *learn.Lesson) string {
	return fmt.Sprintf("-- Learned by simdb learn from %s of %s.\n-- %s.\n%s\n",
		quantity.Count(int64(l.Labels), "label"), app.OneLine(c.Data), agreement(l), strings.ReplaceAll(l.Rule, " AND ", "\n  AND "))
}

// agreement says how many labels agree with what others teach.
func agreement(l *learn.Lesson) string {
	return fmt.Sprintf("%d of %s agree with the rule that the others choose: %.0f %%, from %.0f to %.0f %% in 19 of 20 cases (Wilson)",
		l.Right, quantity.Count(int64(l.Labels), "label"), 100*float64(l.Right)/float64(l.Labels), 100*l.Low, 100*l.High)
}

// words describes the difference of a pair.
func words(p learn.Pair) string {
	switch {
	case p.Lacks == "" && p.Adds == "":
		return "the same words"
	case p.Lacks == "":
		return "+ " + p.Adds
	case p.Adds == "":
		return "- " + p.Lacks
	}
	return p.Lacks + " / " + p.Adds
}
