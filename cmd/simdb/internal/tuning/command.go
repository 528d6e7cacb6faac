// Package tuning is the command `simdb tune`: it shows what package tune finds out about a corpus.
//
//	command.go   the flags
//	run.go       a run, on files or a database
//	chart.go     the report for a terminal
//	page.go      the report as an HTML page
//	hints.go     flags that suit the documents
//	show.go      the rows, and a command line with the proposed criterion
package tuning

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Command is `simdb tune`.
type Command struct {
	Data        string         `arg:"" file:"in" name:"db|file" help:"A database, a file with documents, or with --files or --images a folder of documents; - is standard input."`
	Sample      app.Quantity   `default:"1000" placeholder:"N" help:"Number of documents to sample (default: 1000)."`
	Seed        uint64         `default:"1" placeholder:"SEED" help:"Seed of the random sample (default: 1)."`
	Texts       bool           `help:"Show the texts of the examples, not their ids."`
	HTML        string         `name:"html" file:"html" placeholder:"FILE" help:"Write a web page with the rows and the report: charts of what each threshold removes, of chance pairs and of cluster sizes, and ten pairs with their differences marked."`
	Memory      app.Memory     `default:"auto" placeholder:"SIZE" help:"Memory of the run (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter if the machine has less than 1GiB). The sample fills at most half of it, at about 100 bytes per word."`
	InputFormat records.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"Format of the files: ${inputs} (default: by name and content)."`
	app.InputFlags
	app.RejectFlags
	app.FeatureFlags
	app.RowFlags

	rejects *inputs.Rejects
}

// Help explains the rows.
func (Command) Help() string {
	return `For a random sample of documents, tune finds all others within 16 bits or with at least half of the shingles in common; if it finds
many, the sample is smaller. Each row is a criterion: the share of all documents that have a near-duplicate by it, the share that
dedup would remove, the number of pairs in all documents, the number of pairs that unrelated documents would add by chance, a pair that
just meets it (a, b), and bounds on the errors of the shares and of pairs (share_error, pairs_error) that hold for 19 of 20 samples. The errors are 0 if the sample is
complete; pairs_error is empty if the sample has no pair. Examples are never pairs of equal texts.

The input is read twice: once to draw the sample, and once to compare all documents with it, so memory does not grow with their
number. As in dedup, documents of a file with the same id count separately.

Choose the last criterion whose example you would call a duplicate, well before pairs by chance become a large part of the pairs.
simdb why DB A B compares an example in detail.

With --format table, a report follows: the distribution of similarities, computed from the texts if they are stored; what each
threshold removes; how distances and similarities relate; ten pairs on both sides of a threshold; a command line with this threshold;
and other flags that the sample suggests. --html writes rows and report as a page with charts.`
}
