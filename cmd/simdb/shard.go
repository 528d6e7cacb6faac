package main

import (
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/flags"
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/shard"
)

// shardCmd is `simdb shard`: a job of many processes that share a folder.
type shardCmd struct {
	Plan   shardPlan   `cmd:"" help:"Make the folder of a job of dedup, pairs, clusters or build."`
	Steps  shardSteps  `cmd:"" help:"List the steps of a job in order."`
	Run    shardRun    `cmd:"" help:"Run one share of a step, or of all steps. All shares of a step can run at once, and can be run again; the next step needs all shares."`
	Finish shardFinish `cmd:"" help:"Publish the outputs of a job, after its last step."`
}

type shardPlan struct {
	Shards int      `default:"0" placeholder:"N" help:"Number of shards of whole files (default: one for each file)."`
	Groups int      `default:"0" placeholder:"N" help:"Number of groups in which documents are compared (default: one for every 16,384 documents, but at least 8)."`
	Work   string   `arg:"" help:"The folder of the job, which is created; all processes must be able to reach it."`
	Args   []string `arg:"" passthrough:"" help:"dedup, pairs, clusters or build, and the flags of simdb dedup: FILE... -o DIR/ and --near K, --jaccard T or --seen T."`
}

// Run runs the command.
func (c *shardPlan) Run(a *app.App) error {
	if len(c.Args) > 0 && c.Args[0] == "--" {
		c.Args = c.Args[1:]
	}
	o, err := flags.Shard(c.Args)
	if err == nil {
		o.Work, o.Shards, o.Groups = c.Work, c.Shards, c.Groups
		o, err = shard.Plan(a.Context(), o, shard.Local{})
	}
	if err == nil {
		err = o.Save()
	}
	if err != nil {
		return err
	}
	a.Say("%d files in %d shards; simdb shard steps %s lists the steps", len(o.Inputs), o.Shards, c.Work)
	return nil
}

type shardSteps struct {
	Work string `arg:"" help:"The folder of the job."`
}

// Run runs the command.
func (c *shardSteps) Run(a *app.App) error {
	j, err := shard.Open(c.Work)
	if err != nil {
		return err
	}
	for _, s := range j.Steps() {
		if _, err := fmt.Fprintln(a.Out, s.Name); err != nil {
			return err
		}
	}
	return nil
}

// share is a share of the work, I/N.
type share struct{ i, n int }

// UnmarshalText parses a share.
func (s *share) UnmarshalText(text []byte) error {
	if n, err := fmt.Sscanf(string(text), "%d/%d", &s.i, &s.n); n != 2 || err != nil || s.i < 0 || s.i >= s.n {
		return fmt.Errorf("%q is not a share: 0/8 is the first of eight, 7/8 the last", text)
	}
	return nil
}

type shardRun struct {
	Shard share  `required:"" placeholder:"I/N" help:"Which share of the work: 0/8 is the first of eight, 7/8 the last. N must be the same for all steps."`
	Work  string `arg:"" help:"The folder of the job."`
	Step  string `arg:"" optional:"" help:"A step, as simdb shard steps lists them. Without it, all steps: then all shares must run at the same time, because each waits for the others after every step."`
}

// Run runs the command.
func (c *shardRun) Run(a *app.App) error {
	j, err := shard.Open(c.Work)
	if err != nil {
		return err
	}
	if c.Step == "" {
		return j.RunAll(a.Context(), c.Shard.i, c.Shard.n)
	}
	return j.RunStep(a.Context(), c.Step, c.Shard.i, c.Shard.n)
}

// shardFinish is `simdb shard finish`.
type shardFinish struct {
	Work string `arg:"" help:"The folder of the job."`
}

// Run runs the command.
func (c *shardFinish) Run(a *app.App) error {
	j, err := shard.Open(c.Work)
	if err != nil {
		return err
	}
	said, err := j.Finish(a.Context())
	if said != "" {
		fmt.Fprintln(a.Err, said)
	}
	return err
}
