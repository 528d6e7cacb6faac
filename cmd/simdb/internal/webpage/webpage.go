// Package webpage has the common parts of the pages of `simdb review` and `simdb tune`: colours,
// charts, and the marks on words in which two texts differ. A page is one HTML file that loads
// nothing from elsewhere; its policy permits only its own style and script, by their hashes.
package webpage

import (
	"crypto/sha256"
	_ "embed" // of style and script
	"encoding/base64"
	"html/template"
	"io"
	"maps"
)

// Style is the common style of the pages.
//
//go:embed style.css
var Style string

// Diff is the script that marks the words in which two texts differ.
//
//go:embed diff.js
var Diff string

// Write writes a page from a template. It adds to the data the page's style and script, after the
// common ones, and their hashes for a content security policy: Style, StyleHash, Script and
// ScriptHash.
func Write(w io.Writer, t *template.Template, data map[string]any, style, script string) error {
	data = maps.Clone(data)
	style, script = Style+style, Diff+script
	data["Style"], data["StyleHash"] = template.CSS(style), Hash(style)
	data["Script"], data["ScriptHash"] = template.JS(script), Hash(script)
	return t.Execute(w, data)
}

// Hash returns the hash of a source in the form of a content security policy.
func Hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
