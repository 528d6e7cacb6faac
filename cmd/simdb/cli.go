package main

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/dedup"
	"github.com/simdb/simdb/cmd/simdb/internal/review"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/repl/output"
)

// cli is the command line, as kong reads it.
type cli struct {
	app.GlobalFlags
	Man     manFlag     `help:"Write the manual page, in roff."`
	Version versionFlag `help:"Show the version."`

	Shell      shellCmd       `cmd:"" default:"withargs" help:"Run statements on a database; without any, open a prompt. The word shell can be left out."`
	Load       verbs.Load     `cmd:"" help:"Load documents into a database."`
	Pairs      verbs.Pairs    `cmd:"" help:"List all pairs of near-duplicates in a database or in files."`
	Clusters   verbs.Clusters `cmd:"" help:"List the clusters of near-duplicates in a database or in files."`
	Dedup      dedup.Command  `cmd:"" help:"Copy files without their near-duplicates."`
	Review     review.Command `cmd:"" help:"Write a page for a browser, on which near-duplicates are compared and decided about."`
	Apply      verbs.Apply    `cmd:"" help:"Apply decisions about near-duplicates to a database: delete documents, note pairs that are none."`
	Match      verbs.Match    `cmd:"" help:"Copy the lines of a file that are new to a database."`
	Join       verbs.Join     `cmd:"" help:"List the stored documents that each line of a file is like."`
	Why        verbs.Why      `cmd:"" help:"Show why two documents match, or do not."`
	Stats      verbs.Stats    `cmd:"" help:"Show what a database holds."`
	Check      verbs.Check    `cmd:"" help:"Verify every checksum and cross-reference of a database."`
	Recover    verbs.Recover  `cmd:"" help:"Make a new database from what can be read of a damaged one."`
	Repair     verbs.Repair   `cmd:"" help:"Remove the files that a killed process has left in a database."`
	Compact    verbs.Compact  `cmd:"" help:"Merge a database's tables and drop what is deleted and expired."`
	Prune      verbs.Prune    `cmd:"" help:"Delete documents by age."`
	Pack       verbs.Pack     `cmd:"" help:"Write a database into one table file, which is a read-only database itself."`
	Backup     verbs.Backup   `cmd:"" help:"Copy a database that is in use into a folder, or bring such a copy up to date."`
	Ingest     verbs.Ingest   `cmd:"" help:"Add table files to a database."`
	Tune       verbs.Tune     `cmd:"" help:"Show what each distance and similarity would find in a database or file."`
	Plan       verbs.Plan     `cmd:"" help:"Show what layouts of permuted tables cost, and recommend one."`
	Hash       verbs.Hash     `cmd:"" help:"Show the fingerprint and the sketch of a text."`
	Bench      verbs.Bench    `cmd:"" help:"Measure this machine with a temporary database."`
	Debug      verbs.Debug    `cmd:"" help:"Inspect the files of a database."`
	VersionCmd versionCmd     `cmd:"" name:"version" help:"Show the version and what this machine can do."`
	Completion completionCmd  `cmd:"" help:"Write a completion script for a shell."`
}

// newParser makes the parser. code is set to what kong wants the exit status to be.
func newParser(a *app.App, code *int) (*kong.Kong, error) {
	var c cli
	return kong.New(&c,
		kong.Name("simdb"), kong.Description(description),
		kong.Writers(a.Out, a.Err),
		kong.Exit(func(n int) { *code = max(*code, n); panic(exited(n)) }),
		kong.Help(help), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Vars{"formats": strings.Join(output.Formats(), ", "), "inputs": formatNames()},
		kong.Bind(a),
		kong.WithAfterApply(func() error {
			a.Global = c.GlobalFlags
			return nil
		}),
	)
}

// exited is the panic by which kong's Exit function, called after printing help, ends the parsing.
type exited int

// Error is never shown.
func (e exited) Error() string { return "exited" }

// commandNames are the names of all commands.
var commandNames = sync.OnceValue(func() []string {
	names := []string{"help"}
	t := reflect.TypeFor[cli]()
	for i := range t.NumField() {
		if f := t.Field(i); hasTag(f.Tag, "cmd") {
			names = append(names, cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
		}
	}
	return names
})

func hasTag(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}
