package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/fptext"
	"github.com/simdb/simdb/repl/output"
)

// globalFlags can be given to every command.
type globalFlags struct {
	Progress string `enum:"auto,plain,json,none" default:"auto" placeholder:"MODE" help:"Show progress on standard error: auto (a bar on a terminal, after one second), plain, json or none."`
	Quiet    bool   `short:"q" help:"No summaries and no warnings."`
}

// cli is the command line, as kong reads it.
type cli struct {
	globalFlags
	Man     manFlag     `help:"Write the manual page, in roff."`
	Version versionFlag `help:"Show the version."`

	Shell      shellCmd      `cmd:"" default:"withargs" help:"Run statements on a database; without any, open a prompt. The word shell can be left out."`
	Load       loadCmd       `cmd:"" help:"Load documents into a database."`
	Pairs      pairsCmd      `cmd:"" help:"List all pairs of near-duplicates in a database."`
	Clusters   clustersCmd   `cmd:"" help:"List the clusters of near-duplicates in a database."`
	Dedup      dedupCmd      `cmd:"" help:"Copy files without their near-duplicates."`
	Match      matchCmd      `cmd:"" help:"Copy the lines of a file that are new to a database."`
	Why        whyCmd        `cmd:"" help:"Show why two documents match, or do not."`
	Stats      statsCmd      `cmd:"" help:"Show what a database holds."`
	Check      checkCmd      `cmd:"" help:"Verify every checksum and cross-reference of a database."`
	Compact    compactCmd    `cmd:"" help:"Merge a database's tables and drop what is deleted and expired."`
	Prune      pruneCmd      `cmd:"" help:"Delete documents by age."`
	Pack       packCmd       `cmd:"" help:"Write a database into one table file, which is a read-only database itself."`
	Ingest     ingestCmd     `cmd:"" help:"Add table files to a database."`
	Tune       tuneCmd       `cmd:"" help:"Show what each distance and similarity would find in a database or file."`
	Plan       planCmd       `cmd:"" help:"Show what layouts of permuted tables cost, and recommend one."`
	Hash       hashCmd       `cmd:"" help:"Show the fingerprint and the sketch of a text."`
	Bench      benchCmd      `cmd:"" help:"Measure this machine with a temporary database."`
	Debug      debugCmd      `cmd:"" help:"Look into the files of a database."`
	VersionCmd versionCmd    `cmd:"" name:"version" help:"Show the version and what this machine can do."`
	Completion completionCmd `cmd:"" help:"Write a completion script for a shell."`
}

const description = `An embedded database for near-duplicates: have I seen something like this before?

A DB is a folder (corpus.simdb) or a single table (corpus.sst). A FILE holds documents: JSON lines, CSV, TSV, plain
text or fingerprints, plain or compressed with gzip or zstd; - is standard input.

  simdb dedup crawl.jsonl.gz --near 6 -o kept.jsonl    near-duplicates out of a file
  simdb load corpus.simdb crawl.jsonl.gz               or first into a database
  simdb corpus.simdb "NEAR('doc-17', 3)"               and then ask
  simdb corpus.simdb                                   at a prompt`

// newParser makes the parser. code is set to what kong wants the exit status to be.
func newParser(a *app, code *int) (*kong.Kong, error) {
	var c cli
	return kong.New(&c,
		kong.Name("simdb"), kong.Description(description),
		kong.Writers(a.out, a.err),
		kong.Exit(func(n int) { *code = max(*code, n); panic(exited(n)) }),
		kong.Help(help), kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Vars{"formats": strings.Join(output.Formats(), ", "), "inputs": formatNames()},
		kong.Bind(a),
		kong.WithAfterApply(func() error {
			a.global = c.globalFlags
			return nil
		}),
	)
}

// inputFlags say what documents look like.
type inputFlags struct {
	IDField          string `placeholder:"NAME" help:"Field with a document's id, by name or, in columns, by number (default: id)."`
	TextField        string `placeholder:"NAME" help:"Field with its text (default: text)."`
	FingerprintField string `placeholder:"NAME" help:"Field with its fingerprint, where the file has one (default: fingerprint)."`
	NoHeader         bool   `help:"csv, tsv: the first line is data; the fields are 1 (id) and 2 (text)."`

	Fingerprints fptext.Notation `default:"auto" placeholder:"NOTATION" enum:"auto,hex,decimal" help:"How fingerprints are written: hex or decimal (default: by their form; a file that has both forms is refused)."`
	Delimiter    delimiter       `placeholder:"C" help:"What separates the columns of a csv file: a character such as ; or the word tab (default: a comma)."`
}

// delimiter is what separates columns.
type delimiter byte

// UnmarshalText parses a delimiter.
func (d *delimiter) UnmarshalText(text []byte) error {
	c, err := input.ParseDelimiter(string(text))
	*d = delimiter(c)
	return err
}

// inputFormat is --format of commands that read files.
type inputFormat struct {
	Format input.Format `default:"auto" placeholder:"FORMAT" help:"How the files are written: ${inputs} (default: by name and content)."`
}
