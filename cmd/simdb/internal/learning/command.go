// Package learning is the command `simdb learn`: it asks a person about pairs of documents, and
// writes the rule that package learn learns from the answers.
//
//	command.go  the flags, and a run
//	ask.go      the questions
//	show.go     the rule, and pairs that it would drop
package learning

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Command is `simdb learn`.
type Command struct {
	Data   string `arg:"" file:"in" name:"db|file" help:"A database, a file with documents, or with --files a folder of documents; - is standard input."`
	Labels string `arg:"" optional:"" file:"in" name:"labels" help:"A file of labels, JSON lines with a, b and same; or the decisions of a page of simdb review."`
	Output string `short:"o" file:"rule" placeholder:"FILE" help:"Write the rule to FILE (default: standard output)."`
	Ask    *int   `placeholder:"N" help:"Ask about N pairs, and append the answers to the labels (default: 30 if no labels are given, otherwise 0)."`

	Sample      app.Quantity   `default:"50000" placeholder:"N" help:"Compare at most N documents, drawn at random (default: 50,000). Documents with labels are always compared."`
	Seed        uint64         `default:"1" placeholder:"SEED" help:"Seed of the random choices (default: 1)."`
	Memory      app.Memory     `default:"auto" placeholder:"SIZE" help:"Memory of the run (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter if the machine has less than 1GiB). Texts fill at most half of it."`
	InputFormat records.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"Format of the files: ${inputs} (default: by name and content)."`
	app.InputFlags
	app.RejectFlags
	app.FeatureFlags
}

// Help explains the questions and the rules.
func (Command) Help() string {
	return `Few thresholds suit every corpus: names of diagnoses that differ in one word are different, descriptions of an API that differ in
one clause are not. learn asks about pairs of documents, those about which the possible rules disagree most: y if nothing would be lost
without one of the two, n if both are needed, s to skip a pair, b to take back the last answer, q to stop. Words that only the first text has are shown as [-word-], those
that only the second has as {+word+}. Answers are appended to the file of labels, by default beside the rule as RULE.labels.jsonl, so that
another run goes on with them. From 20 labels on, the rule is usually better than any threshold.

The rule is a similarity of words or characters with a threshold, and if that agrees better with the labels, one condition: equal numbers
or dates, no difference that recurs in other pairs, or only one text with words of its own. It is an expression for --rule, as in simdb
dedup FILE --rule RULE. Standard error says how many labels agree with the rule that the other labels choose (a cross-validation), with
an interval for 19 of 20 samples of labels, and shows pairs that it would drop, and pairs that it just spares.

--shingle names the first unit that is tried. As in dedup, foldings, stop words and masks apply to all units.`
}

// Validate checks flags that depend on each other.
func (c *Command) Validate() error {
	given := c.FeatureFlags.Given()
	for _, field := range []string{"Fields", "SetField", "FeaturesField", "Weights", "Bits", "Ignore", "IgnoreCommon"} {
		if name := option.Name(field); slices.Contains(given, name) {
			return fmt.Errorf("%s cannot be used with learn: a rule does not know it", name)
		}
	}
	switch {
	case c.Images != nil:
		return errors.New("--images cannot be used with learn: rules compare texts")
	case c.Ask != nil && *c.Ask < 0:
		return errors.New("--ask must not be negative")
	case c.Labels == "-" && c.Data == "-":
		return errors.New("documents and labels cannot both be standard input")
	case c.Labels == "" && cmp.Or(c.Output, "-") == "-":
		return errors.New("give a file of labels, or with -o FILE a file for the rule, beside which the answers are written")
	}
	return c.InputFlags.Check()
}

// questions returns the number of pairs to ask about.
func (c *Command) questions() int {
	if c.Ask != nil {
		return *c.Ask
	}
	if c.Labels == "" {
		return 30
	}
	return 0
}

// Run learns a rule.
func (c *Command) Run(a *app.App) error {
	path := cmp.Or(c.Labels, c.Output+".labels.jsonl")
	ask := c.questions()
	if interactive := c.Data != "-" && term.IsTerminal(int(os.Stdin.Fd())) && app.IsTerminal(a.Err); ask > 0 && !interactive {
		return fmt.Errorf(`questions need a terminal: give a file of labels, JSON lines such as {"a": "doc-17", "b": "doc-18", "same": true}`)
	}
	labels, err := learn.ReadLabels(a.Context(), path, a.Env().Say)
	if err != nil && (ask == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	corpus, err := c.Corpus(a, labels)
	if err != nil {
		return err
	}
	if ask > 0 {
		if labels, err = c.ask(a, corpus, path, labels, ask); err != nil {
			return err
		}
	}
	switch {
	case len(labels) == 0 && ask > 0:
		return errors.New("there are no labels, as no question was answered")
	case len(labels) == 0:
		return fmt.Errorf("%s has no labels", path)
	}
	lesson, err := corpus.Learn(labels)
	if unknown, ok := errors.AsType[*learn.UnknownError](err); ok {
		return fmt.Errorf("%s:%d: %w in %s", path, unknown.Line, err, c.Data)
	}
	if err != nil {
		return err
	}
	return c.show(a, lesson)
}

// Corpus reads the documents. Those of labels are always among them.
func (c *Command) Corpus(a *app.App, labels []learn.Label) (_ *learn.Corpus, err error) {
	compared, err := c.Compared()
	if err != nil {
		return nil, err
	}
	s, err := a.NewCollection([]string{c.Data}, c.InputFlags, inputs.Access{OrFile: true, Compared: compared})
	if err != nil {
		return nil, err
	}
	defer s.Stored.Close(&err)
	if err := s.One(c.Data); err != nil {
		return nil, err
	}
	defer app.KeepTo(int64(c.Memory))()
	o := learn.Options{Features: compared.Features, Shingle: compared.Shingle, Seed: c.Seed, Sample: int(c.Sample), Memory: int64(c.Memory)}
	if s.Stored != nil {
		p, err := s.Stored.Params()
		if err != nil {
			return nil, err
		}
		o.Features, o.Shingle = engine.Features(p.Features), p.Shingle
	}
	opt := c.InputFlags.Options(c.InputFormat)
	opt.MakeID, opt.Need, opt.Memory = true, records.NeedText, int64(c.Memory)
	rejects := a.NewRejects(c.RejectFlags, c.Output)
	m := a.Meter()
	corpus, err := learn.Read(a.Context(), a.Env(), s, inputs.Reading{Options: opt, Rejects: rejects}, labels, o)
	m.Stop()
	if err = rejects.Close(err); err != nil {
		return nil, err
	}
	a.Env().TellSkipped(s, rejects)
	if n := int64(corpus.Compared()); n < corpus.Documents {
		a.Say("%s of %s are compared, drawn at random: --sample compares more", quantity.Number(n), quantity.Count(corpus.Documents, "document"))
	}
	return corpus, nil
}
