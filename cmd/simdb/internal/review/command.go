// Package review is the command `simdb review`: it writes a page, one HTML file, on which a person
// decides which near-duplicates to drop.
//
//	run.go      a run
//	command.go  the flags, and the state of a run
//	database.go the clusters of a database
//	audit.go    the clusters of an audit, with the texts of the inputs that it names
//	pick.go     the clusters with the weakest edges
//	pictures.go the pictures that ids name, and the bits of fingerprints
//	overview.go the charts of all clusters
//	page.go     the page: page.html, page.css and page.js, and the parts of package webpage
//
// The page shows texts that nobody has checked, so it never treats them as markup: documents are
// JSON in a script element of the type application/json, with <, > and & escaped, and the script
// only sets textContent. A content security policy permits only that script and that style, by
// their hashes: the page cannot load from or send to any address, and may load files only if
// documents are pictures. The browser holds all texts, at most 64 MiB, lays out one pair at a time,
// and compares its words by Myers' algorithm.
package review

import (
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
)

// Command is `simdb review`.
type Command struct {
	Data      string        `arg:"" file:"in" name:"db|audit" help:"A database, or an audit of dedup or match, whose inputs are read again."`
	Output    string        `short:"o" file:"html" required:"" placeholder:"FILE" help:"Write the page to FILE."`
	Near      *app.Distance `group:"criterion" xor:"criterion" placeholder:"K" help:"For a database: two documents are near-duplicates if at most K of the bits of their fingerprints differ."`
	Jaccard   *app.Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"For a database: two documents are near-duplicates if their Jaccard similarity, the share of common shingles, is at least T (default, without --near, except for pictures: 0.8)."`
	Estimate  bool          `group:"criterion" help:"With --jaccard: estimate similarities from sketches; by default they are computed from the texts, if the database stores them."`
	Limit     app.Quantity  `default:"1000" placeholder:"N" help:"Show the N clusters with the weakest edges (default: 1000)."`
	Members   app.Quantity  `default:"20" placeholder:"N" help:"Show the N members of each cluster that are least similar to its keeper (default: 20)."`
	ImageRoot string        `type:"path" file:"dir" placeholder:"FOLDER" help:"Folder of the pictures, if ids are their paths (default: the current folder)."`
	app.MemoryFlag
	InputFormat records.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"For an audit: format of its inputs: ${inputs} (default: by name and content)."`
	app.PageInputFlags
}

// Validate checks flags that depend on each other.
func (c *Command) Validate() error {
	if c.OfFiles() || len(c.Exclude) > 0 || c.Hidden {
		return errors.New("--files, --images, --exclude and --hidden are flags of dedup: its audit says which files were read")
	}
	return nil
}

// job is a run of the command.
type job struct {
	a     *app.App
	c     *Command
	meter *app.Meter
	pick  picker
	page  Page
	tally tally
	words features.Spec // how a database splits texts into words
	room  int64         // bytes that remain for texts on the page

	keepers map[string]uint32 // for an audit without cluster numbers: numbers by keeper
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
	if left := j.pick.clusters - int64(n); left > 0 {
		why := "--limit shows more"
		if n < len(clusters) {
			why = fmt.Sprintf("the page holds at most %s of text", quantity.Bytes(pageBytes))
		}
		j.notice("The page shows %s of %s, those with the weakest edges: %s.", quantity.Number(int64(n)), quantity.Count(j.pick.clusters, "cluster"), why)
	}
	if j.pick.cut {
		j.notice("Of each large cluster it shows the %s least similar to the keeper: --members shows more.", quantity.Count(int64(j.pick.members), "member"))
	}
}
