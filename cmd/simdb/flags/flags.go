// Package flags parses the command line for simdb, and for other programs that have its flags.
package flags

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/shard"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/repl/output"
)

func init() {
	option.Use(&app.Flags)
	shard.Load = load
}

// New returns the parser of a command, which is a struct with tags.
func New(command any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(command, append([]kong.Option{
		kong.Vars{"formats": strings.Join(output.Formats(), ", "), "inputs": formatNames()},
		app.ExactStrings(), kong.Resolvers(kong.ResolverFunc(app.DefaultCriterion)), kong.Exit(func(int) {}),
	}, options...)...)
}

func parse(command any, args []string) error {
	k, err := New(command)
	if err == nil {
		_, err = k.Parse(args)
	}
	return err
}

// Shard returns the job for many workers that arguments describe: a command, its flags, and file
// names or patterns.
func Shard(args []string) (o shard.Options, err error) {
	if len(args) == 0 {
		return o, errors.New("a command is missing: " + strings.Join(shard.Commands(), ", "))
	}
	if o.Command, args = args[0], args[1:]; o.Command == "build" {
		c, err := parseBuild(args)
		o.Job, o.Patterns, o.Load = dedup.Job{Output: c.Output, Rejects: c.RejectFlags.Options()}, c.Files, args
		return o, err
	}
	var c verbs.Dedup
	if err := shard.CheckCommand(o.Command); err != nil {
		return o, err
	}
	if err := parse(&c, args); err != nil {
		return o, err
	}
	job, err := c.Job(app.NewQuiet(context.Background(), nil))
	if err == nil {
		o.Job, o.Patterns = *job, c.Files
	}
	return o, err
}

// build has the flags of build: the flags of simdb load, and -o DIR/.
type build struct {
	Output string `short:"o" required:""`
	loading.Load
}

func parseBuild(args []string) (c build, err error) {
	err = parse(&c, append([]string{"db"}, args...))
	switch {
	case err != nil:
	case !outfile.IsFolderName(c.Output):
		err = fmt.Errorf("-o %s: many workers write a table for each shard: name a folder, -o DIR/", c.Output)
	case c.OfFiles(), c.Resume, c.OnConflict != "replace", c.Rejects != "":
		err = errors.New("--files, --images, --resume, --on-conflict and --rejects work on one machine only")
	}
	return c, err
}

// load makes a database of files, as simdb load does.
func load(ctx context.Context, flags []string, db string, files []string, at time.Time) (rejected int64, err error) {
	c, err := parseBuild(flags)
	if err != nil {
		return 0, err
	}
	a := app.NewQuiet(ctx, nil)
	defer a.CleanUp()
	c.DB, c.Load.Files, c.Else = db, files, at
	err = c.Run(a)
	return c.Rejected, err
}
