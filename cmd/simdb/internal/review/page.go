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
	"github.com/simdb/simdb/records"
)

// Page is what the page shows. Clusters are written as JSON: what comes from documents is data of
// the script, never markup.
type Page struct {
	Source    string         // what is reviewed, as the user named it
	Criterion string         // in words
	Notices   []string       // what is left out or was not found
	Overview  []webpage.Plot // of all clusters, also those that are not on the page
	Clusters  []Cluster
}

// Cluster is a cluster on the page: its keeper and those members that are least like it.
type Cluster struct {
	Size    int64 `json:"size"` // documents in the cluster, also those that are not on the page
	Keeper  Doc   `json:"keeper"`
	Members []Doc `json:"members"`
}

// Doc is a document on the page. Score and Distance are to the keeper, nil where they do not apply.
type Doc struct {
	ID       string   `json:"id"`
	Text     *string  `json:"text,omitempty"`    // nil where it is not known; Note says why
	Picture  string   `json:"picture,omitempty"` // where its file is, as a path from the page's folder
	Bits     []string `json:"bits,omitempty"`    // its fingerprints in hexadecimal, where there is no text
	Note     string   `json:"note,omitempty"`
	Place    string   `json:"place,omitempty"` // file and line, or fields
	Score    *float64 `json:"score,omitempty"`
	Distance *int     `json:"distance,omitempty"`
	Exact    *bool    `json:"exact,omitempty"`
	Rule     string   `json:"rule,omitempty"`

	at      place  // of an audit
	stored  string // of an audit: the database that has it
	cluster uint32 // of an audit, while clusters are picked
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Write writes the page: one file that loads nothing but pictures that documents are. Its policy
// permits this script and this style alone, by their hashes, and files if there are pictures. In
// the data <, > and & are escaped, so that no text ends the element that they are in.
func (p *Page) Write(w io.Writer) error {
	clusters, err := json.Marshal(p.Clusters)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(clusters) // names what the browser remembers
	data := fmt.Sprintf(`{"key":"%x","clusters":%s}`, sum[:8], clusters)
	return webpage.Write(w, pageTemplate, map[string]any{
		"Page":     p,
		"Pictures": slices.ContainsFunc(p.Clusters, Cluster.hasPicture),
		"Data":     template.JS(data), // escaped by json.Marshal
	}, pageCSS, pageJS)
}

func (c Cluster) hasPicture() bool {
	return slices.ContainsFunc(c.docs(), func(d *Doc) bool { return d.Picture != "" })
}

// place is where the text of documents on the page stands.
type place struct {
	file string
	line records.Position
}

// beginning returns a text of at most that many bytes, which ends with a character.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
