package review

import (
	"crypto/sha256"
	_ "embed" // of the parts of the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/webpage"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/records"
)

// Page is the content of the page. Clusters are written as JSON: values from documents are data of
// the script, never markup.
type Page struct {
	Source    string         // the database or files under review, in the user's words
	Criterion string         // in words
	Notices   []string       // documents that were omitted or not found
	Overview  []webpage.Plot // charts of all clusters, including those that are not on the page
	Clusters  []Cluster
	Reviewer  string // the name that is stored with decisions, unless the reviewer types another one
	Selection Selection
	Decisions string // if the page is shown: the file to which each decision is appended
}

// Cluster is a cluster on the page: its keeper and the members that are least similar to it.
type Cluster struct {
	Size    int64 `json:"size"` // documents in the cluster, including those that are not on the page
	Keeper  Doc   `json:"keeper"`
	Members []Doc `json:"members"`
}

// Doc is a document on the page. Score and Distance compare it with the keeper; they are nil if
// they do not apply.
type Doc struct {
	ID       string   `json:"id"`
	Text     *string  `json:"text,omitempty"`    // nil if it is unknown; Note says why
	Picture  string   `json:"picture,omitempty"` // path of its file from the page's folder
	Bits     []string `json:"bits,omitempty"`    // its fingerprints in hexadecimal, if it has no text
	Note     string   `json:"note,omitempty"`
	Place    string   `json:"place,omitempty"` // file and line, or fields
	Score    *float64 `json:"score,omitempty"`
	Distance *int     `json:"distance,omitempty"`
	Exact    *bool    `json:"exact,omitempty"`
	Lacks    string   `json:"lacks,omitempty"` // words that the keeper has
	Adds     string   `json:"adds,omitempty"`  // words that the keeper does not have
	Rule     string   `json:"rule,omitempty"`
	Said     []Said   `json:"said,omitempty"` // about this document and the keeper; the last one holds

	at     place  // from an audit
	stored string // from an audit: the database that has the document
}

// Said is the last decision of a reviewer about a pair.
type Said struct {
	By       string             `json:"by"`
	At       string             `json:"at,omitempty"` // RFC 3339, in UTC
	Decision dedup.DecisionKind `json:"decision"`
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Write writes the page: a single file that loads nothing but the pictures of documents. Its
// content security policy permits only this script and this style, by their hashes, files if there
// are pictures, and requests to the program if it shows the page. <, > and & in the data are escaped, so that no text ends the element that
// contains it.
func (p *Page) Write(w io.Writer) error {
	clusters, err := json.Marshal(p.Clusters)
	if err != nil {
		return err
	}
	pairs := sha256.New() // identifies what the browser remembers: numbers of pairs and decisions about them
	for i := range p.Clusters {
		for _, d := range p.Clusters[i].docs() {
			fmt.Fprintf(pairs, "%d %q", i, d.ID)
		}
	}
	s := &p.Selection
	data, err := json.Marshal(map[string]any{
		"key": fmt.Sprintf("%x", pairs.Sum(nil)[:8]), "clusters": json.RawMessage(clusters), "reviewer": p.Reviewer, "shown": p.Decisions != "",
		"selection": map[string]any{"from": s.From, "to": s.To, "rule": s.OfRule, "undecided": s.Undecided, "sample": s.Sample, "seed": s.Seed},
	})
	if err != nil {
		return err
	}
	return webpage.Write(w, pageTemplate, map[string]any{
		"Page":     p,
		"Pictures": slices.ContainsFunc(p.Clusters, Cluster.hasPicture),
		"Data":     template.JS(data), // escaped by json.Marshal
	}, pageCSS, pageJS)
}

func (c Cluster) hasPicture() bool {
	return slices.ContainsFunc(c.docs(), func(d *Doc) bool { return d.Picture != "" })
}

// place is the place of a document's text in a file.
type place struct {
	file string
	line records.Position
}

// beginning returns at most most bytes of the beginning of a text, and does not split a character.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
