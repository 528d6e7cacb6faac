// Package webpage has what the pages of `simdb review` and `simdb tune` share: colours, charts, and
// the marks of words in which two texts differ. A page is one HTML file that loads nothing from
// anywhere; its policy permits its own style and script alone, by their hashes.
package webpage

import (
	"crypto/sha256"
	_ "embed" // of style and script
	"encoding/base64"
	"html/template"
	"io"
	"maps"
)

// Style is the style of what pages share.
//
//go:embed style.css
var Style string

// Diff is the script that marks the words in which two texts differ.
//
//go:embed diff.js
var Diff string

// Write writes a page from a template. It adds style and script to the data, which come after those
// that pages share, and their hashes as a content security policy names them: Style, StyleHash,
// Script and ScriptHash.
func Write(w io.Writer, t *template.Template, data map[string]any, style, script string) error {
	data = maps.Clone(data)
	style, script = Style+style, Diff+script
	data["Style"], data["StyleHash"] = template.CSS(style), Hash(style)
	data["Script"], data["ScriptHash"] = template.JS(script), Hash(script)
	return t.Execute(w, data)
}

// Hash is a source as a content security policy names it.
func Hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
