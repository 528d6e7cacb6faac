// Package review is the command `simdb review`: it shows a page, one HTML file, on which a person
// decides which near-duplicates to drop.
//
//	run.go       a run
//	command.go   the flags, and the state of a run
//	serve.go     the page on this machine, which stores each decision at once
//	decisions.go decisions that were made before
//	database.go  the clusters of a database
//	audit.go     the clusters of an audit, with the texts of the inputs that it names
//	rows.go      the rows of pairs, clusters and join, in place of an audit
//	pick.go      the clusters with the weakest edges, or a random sample of pairs
//	pictures.go  the pictures that ids name, and the bits of fingerprints
//	overview.go  the charts of all clusters
//	page.go      the page: page.html, page.css and page.js, and the parts of package webpage
//
// The page shows texts that nobody has checked, so it never treats them as markup: documents are
// JSON in a script element of the type application/json, with <, > and & escaped, and the script
// only sets textContent. A content security policy permits only that script and that style, by
// their hashes: the page cannot load from or send to any address but the program that shows it, and
// may load files only if documents are pictures. The browser holds all texts, at most 64 MiB, lays
// out one pair at a time, and compares its words by Myers' algorithm.
package review

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// Command is `simdb review`.
type Command struct {
	Data      string   `arg:"" file:"in" name:"data" help:"A database; an audit of dedup or match, whose inputs are read again; or rows of pairs, clusters or join, written with --format jsonl or csv."`
	Documents []string `arg:"" optional:"" file:"in" name:"file" help:"For rows: the files or databases with the documents, as for the command that wrote the rows."`
	Output    string   `short:"o" file:"html" placeholder:"FILE" help:"Write a page to FILE that needs no running program, and from which decisions are downloaded. Default: show the page on this machine only, and store each decision at once."`
	Decisions string   `file:"in" placeholder:"FILE" help:"File of decisions. The page shows what it has; without -o, each decision is appended to it at once (default: the name of the data with the ending .decisions.jsonl)."`
	Reviewer  string   `placeholder:"NAME" help:"Name to store with each decision; it can be changed on the page (default: the name of the user's account)."`
	Port      uint16   `placeholder:"N" help:"Without -o: port of the page, on 127.0.0.1 (default: a free one)."`
	app.SimilarityFlags
	app.GroupFlags
	Estimate bool `group:"criterion" help:"With --jaccard: estimate similarities from sketches; by default they are computed from the texts, if the database stores them."`
	Selection
	Limit     app.Quantity `group:"chosen" default:"1000" placeholder:"N" help:"Show the N clusters with the weakest edges (default: 1000)."`
	Members   app.Quantity `group:"chosen" default:"20" placeholder:"N" help:"Show the N members of each cluster that are least similar to its keeper (default: 20)."`
	ImageRoot string       `type:"path" file:"dir" placeholder:"FOLDER" help:"Folder of the pictures, if ids are their paths (default: the current folder)."`
	app.MemoryFlag
	InputFormat records.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"For an audit or rows: format of the files with the documents: ${inputs} (default: by name and content)."`
	app.PageInputFlags
	TextFieldB string `group:"input" name:"text-field-b" placeholder:"NAME,..." help:"For rows of join: field with the text in the second file (default: as --text-field)."`
	IDFieldB   string `group:"input" name:"id-field-b" placeholder:"NAME" help:"For rows of join: field with the id in the second file (default: as --id-field)."`
}

// Selection says which pairs the page shows.
type Selection struct {
	From      *float64     `group:"chosen" placeholder:"X" help:"Show only pairs with a score, or without scores a distance, of at least X."`
	To        *float64     `group:"chosen" placeholder:"X" help:"Show only pairs with a score, or without scores a distance, of at most X."`
	OfRule    string       `group:"chosen" placeholder:"NAME" help:"For an audit: show only pairs with this rule in the audit, such as first, longest or match."`
	Undecided bool         `group:"chosen" help:"Show only pairs that the file of decisions leaves undecided."`
	Sample    app.Quantity `group:"chosen" placeholder:"N" help:"Show N pairs drawn at random, in place of the weakest ones."`
	Seed      uint64       `group:"chosen" default:"1" placeholder:"SEED" help:"Seed of --sample (default: 1)."`
}

// Help explains the keys and the file of decisions.
func (Command) Help() string {
	return `The page shows two documents side by side, with the words or bits in which they differ: y says that the right one is a duplicate and is
dropped, n that it is not a duplicate, 1 that it is one but stays, s skips the pair, u undoes. Filters on the page choose pairs by
score, rule, decision and words.

Without -o the program shows the page at an address with a secret, on this machine only, until "Finish" or Ctrl-C. Each decision is
safe on the disk before the page goes on; it is stored with the reviewer and the time. Several reviewers can append to one file: the latest
decision about a pair holds, and the page shows where reviewers disagree.

simdb apply DB FILE applies decisions to a database, simdb dedup --decisions FILE to files, and simdb learn DATA FILE learns a rule from
them.`
}

// Validate checks flags that depend on each other.
func (c *Command) Validate() error {
	switch {
	case len(c.Documents) == 0 && (c.OfFiles() || len(c.Exclude) > 0 || c.Hidden):
		return errors.New("--files, --images, --exclude and --hidden are for rows: an audit of dedup says which files were read")
	case c.Output != "" && c.Port != 0:
		return errors.New("--port is for a page that is shown: -o writes one")
	case c.Output == "" && c.Decisions == "" && (c.Data == "-" || strings.ContainsAny(c.Data, "*?[") || strings.Contains(c.Data, "://")):
		return errors.New("give a file for the decisions with --decisions FILE, or with -o a file for the page")
	case c.Decisions == "-":
		return errors.New("--decisions -: decisions are appended to a file")
	case c.Undecided && c.Output != "" && c.Decisions == "":
		return errors.New("--undecided needs --decisions FILE")
	}
	return c.Selection.check()
}

// check checks the bounds of a selection. JSON has no infinite numbers.
func (s *Selection) check() error {
	for _, bound := range []*float64{s.From, s.To} {
		if bound != nil && (math.IsNaN(*bound) || math.IsInf(*bound, 0)) {
			return fmt.Errorf("--from and --to are finite numbers, not %g", *bound)
		}
	}
	if s.From != nil && s.To != nil && *s.From > *s.To {
		return fmt.Errorf("--from %g is greater than --to %g", *s.From, *s.To)
	}
	return nil
}

// job is a run of the command.
type job struct {
	a     *app.App
	c     *Command
	meter *app.Meter
	pick  picker
	drawn sampler
	page  Page
	tally tally
	words features.Spec // how a database splits texts into words
	room  int64         // bytes that remain for texts on the page

	sel     Selection
	said    history            // decisions that were made before
	shown   *pictures          // for a page that is shown, or nil
	rows    *rowsHead          // or nil
	read    app.PageInputFlags // how files are read
	format  records.Format     // likewise
	keepers map[string]uint32  // for an audit without cluster numbers: numbers by keeper
}

// The page holds at most pageBytes of texts, and at most docBytes of one document.
const (
	pageBytes = 64 << 20
	docBytes  = 1 << 20
)

// notice adds a line to the notices above the clusters.
func (j *job) notice(format string, args ...any) {
	j.page.Notices = append(j.page.Notices, fmt.Sprintf(format, args...))
}

// setText sets the text of a document. The page shows only the beginning of a long text.
func (j *job) setText(d *Doc, text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	if begin := beginning(text, docBytes); begin != text {
		d.Note = fmt.Sprintf("The page has the first %s of %s of this text.", quantity.Bytes(int64(len(begin))), quantity.Bytes(int64(len(text))))
		text = strings.Clone(begin)
	}
	j.room -= int64(len(text))
	d.Text = &text
}

// tellLeftOut leaves out the clusters from number n on, for which the page has no space. It says
// what part of all clusters the page shows.
func (j *job) tellLeftOut(clusters []Cluster, n int) {
	j.page.Clusters = clusters[:n]
	if j.sel.Sample > 0 {
		shown := int64(0)
		for i := range j.page.Clusters {
			shown += int64(len(j.page.Clusters[i].Members))
		}
		j.notice("The page shows %s drawn at random with --seed %d, of %s.", quantity.Count(shown, "pair"), j.sel.Seed, quantity.Number(j.drawn.pairs))
		if left := j.drawn.shown() - shown; left > 0 {
			j.notice("%s left out, so that what is here is not random: the page holds at most %s of text. Draw fewer pairs.", quantity.Plain(left, "pair is", "pairs are"), quantity.Bytes(pageBytes))
		}
	} else if left := j.pick.clusters - int64(n); left > 0 {
		why := "--limit shows more"
		if n < len(clusters) {
			why = fmt.Sprintf("the page holds at most %s of text", quantity.Bytes(pageBytes))
		}
		j.notice("The page shows %s of %s, those with the weakest edges: %s.", quantity.Number(int64(n)), quantity.Count(j.pick.clusters, "cluster"), why)
	}
	if j.pick.cut && j.sel.Sample == 0 {
		j.notice("Of each large cluster it shows the %s least similar to the keeper: --members shows more.", quantity.Count(int64(j.pick.members), "member"))
	}
}
