package main

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/flags"
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/learning"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/review"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
)

// cli is the command line, in the form that kong reads.
type cli struct {
	app.GlobalFlags
	Man     manFlag     `help:"Write the manual page, in roff."`
	Version versionFlag `short:"V" help:"Show the version."`

	Dedup    verbs.Dedup    `cmd:"" group:"find" help:"Copy files without their near-duplicates."`
	Match    verbs.Match    `cmd:"" group:"find" help:"Copy the lines of a file that are new to a database."`
	Join     verbs.Join     `cmd:"" group:"find" help:"List the stored documents that each line of a file resembles."`
	Pairs    verbs.Pairs    `cmd:"" group:"find" help:"List all pairs of near-duplicates in a database or in files."`
	Clusters verbs.Clusters `cmd:"" group:"find" help:"List the clusters of near-duplicates in a database or in files."`
	Shard    shardCmd       `cmd:"" group:"find" help:"Run dedup, pairs, clusters or build in many processes, on one machine or several."`
	Shell    shellCmd       `cmd:"" default:"withargs" group:"find" help:"Run statements on a database; without any, open a prompt. The word shell is optional."`
	Why      verbs.Why      `cmd:"" group:"find" help:"Show why two documents match, or do not."`

	Tune    tuning.Command   `cmd:"" group:"decide" help:"Show what each distance and similarity would find in a database or file."`
	Learn   learning.Command `cmd:"" group:"decide" help:"Learn from answers which rule finds the near-duplicates of a database or file."`
	Plan    verbs.Plan       `cmd:"" group:"decide" help:"Show what layouts of permuted tables cost, and recommend one."`
	Review  review.Command   `cmd:"" group:"decide" help:"Show a web page for comparing near-duplicates and deciding about them."`
	Apply   verbs.Apply      `cmd:"" group:"decide" help:"Apply decisions about near-duplicates to a database: delete documents, allow pairs."`
	Allow   verbs.Allow      `cmd:"" group:"decide" help:"Record that two documents of a database are not duplicates."`
	Unallow verbs.Unallow    `cmd:"" group:"decide" help:"Undo allow."`
	Allowed verbs.Allowed    `cmd:"" group:"decide" help:"List the pairs that allow has recorded."`
	Hash    verbs.Hash       `cmd:"" group:"decide" help:"Show the fingerprint and the sketch of a text."`

	Load    loading.Load    `cmd:"" group:"store" help:"Load documents into a database."`
	Create  loading.Create  `cmd:"" group:"store" help:"Make an empty database."`
	Rebuild loading.Rebuild `cmd:"" group:"store" help:"Make a copy of a database with other parameters."`
	Export  loading.Export  `cmd:"" group:"store" help:"Write the documents of a database to a file that load reads back."`
	Changes verbs.Changes   `cmd:"" group:"store" help:"List what was stored, deleted and expired in a database, and follow it."`
	Stats   verbs.Stats     `cmd:"" group:"store" help:"Show the contents of a database: documents, tables, sizes."`
	Fields  verbs.Fields    `cmd:"" group:"store" help:"List the fields of the documents in a database."`
	Prune   verbs.Prune     `cmd:"" group:"store" help:"Delete documents by age, now or from now on."`
	Flush   verbs.Flush     `cmd:"" group:"store" help:"Write the log of a database to a table."`
	Compact verbs.Compact   `cmd:"" group:"store" help:"Merge the tables of a database and drop deleted and expired documents."`
	Backup  verbs.Backup    `cmd:"" group:"store" help:"Copy a database into a folder while it is in use, or bring such a copy up to date."`
	Pack    verbs.Pack      `cmd:"" group:"store" help:"Write a database to one table file, which is itself a read-only database."`
	Ingest  verbs.Ingest    `cmd:"" group:"store" help:"Add table files to a database."`

	Check   verbs.Check   `cmd:"" group:"mend" help:"Verify every checksum and cross-reference of a database."`
	Repair  verbs.Repair  `cmd:"" group:"mend" help:"Rebuild damaged tables, and remove files that a killed process left."`
	Recover verbs.Recover `cmd:"" group:"mend" help:"Make a new database from the readable parts of a damaged one."`

	Debug      verbs.Debug   `cmd:"" group:"other" help:"Inspect the files of a database."`
	VersionCmd versionCmd    `cmd:"" name:"version" group:"other" help:"Show the version, the commit, the platform, the kernels and the formats."`
	Completion completionCmd `cmd:"" group:"other" help:"Write a completion script for a shell."`
}

// groups are the sections of a help text: of the commands, and of the flags of a command.
var groups = []kong.Group{
	{Key: "find", Title: "Find near-duplicates:"},
	{Key: "decide", Title: "Choose a threshold, and decide:"},
	{Key: "store", Title: "Keep documents in a database:"},
	{Key: "mend", Title: "When a database is damaged:"},
	{Key: "other", Title: "About the program:"},

	{Key: "criterion", Title: "Which documents are near-duplicates:"},
	{Key: "kept", Title: "Which documents to keep:"},
	{Key: "chosen", Title: "Which pairs are shown:"},
	{Key: "output", Title: "What is written:"},
	{Key: "rows", Title: "How rows are written:"},
	{Key: "created", Title: "When the database is created:"},
	{Key: "input", Title: "How files are read:"},
	{Key: "features", Title: "What is compared:"},
	{Key: "run", Title: "How it runs:"},
}

// part returns cli with only the command that the arguments name: with all commands, kong needs
// longer than most commands run. It returns the whole cli if the arguments begin with a flag, or
// concern all commands.
func part(args []string) reflect.Type {
	t, only := reflect.TypeFor[cli](), ""
	if len(args) > 0 && !isFlag(args[0]) && args[0] != "completion" && !slices.Contains(args, "--man") {
		if only = "shell"; slices.Contains(commandNames()[1:], args[0]) {
			only = args[0]
		}
	}
	var fields []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			f.Anonymous, f.Tag = false, `embed:""`
		}
		if only == "" || !hasTag(f.Tag, "cmd") || nameOf(f) == only {
			fields = append(fields, f)
		}
	}
	return reflect.StructOf(fields)
}

// newParser makes the parser for some arguments. It sets code to the exit status that kong
// requests.
func newParser(a *app.App, args []string, code *int) (*kong.Kong, error) {
	c := reflect.New(part(args))
	return flags.New(c.Interface(),
		kong.Name("simdb"), kong.Description(description),
		kong.Writers(a.Out, a.Err),
		kong.Exit(func(n int) { *code = max(*code, n); panic(exited(n)) }),
		kong.Help(helper{a, slices.Contains(args, "-h")}.help), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.ExplicitGroups(groups),
		kong.Bind(a),
		kong.WithAfterApply(func() error {
			a.Global = c.Elem().FieldByName("GlobalFlags").Interface().(app.GlobalFlags)
			return nil
		}),
	)
}

// exited is the panic with which kong's Exit function ends the parsing after it has printed help.
type exited int

// Error is never shown.
func (e exited) Error() string { return "exited" }

var commandNames = sync.OnceValue(func() []string {
	names := []string{"help"}
	t := reflect.TypeFor[cli]()
	for i := range t.NumField() {
		if f := t.Field(i); hasTag(f.Tag, "cmd") {
			names = append(names, nameOf(f))
		}
	}
	return names
})

func nameOf(command reflect.StructField) string {
	return cmp.Or(command.Tag.Get("name"), strings.ToLower(command.Name))
}

func hasTag(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}
