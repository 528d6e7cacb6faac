package verbs

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/outfile"
)

// page writes the report as a page.
func (c *Tune) page(a *app.App, r *tuning.Report, k int) error {
	w, err := a.Create("--html", c.HTML, outfile.HTML)
	if err != nil {
		return err
	}
	if err := r.WritePage(w, k, r.Boundary(k)); err != nil {
		return err
	}
	return w.Commit()
}

// command returns the command that applies a threshold: dedup of a file, clusters of a database.
func (c *Tune) command(threshold string) string {
	verb, out := "dedup", " -o kept"
	if !c.WholeFiles && !app.NamesFiles(c.Data) {
		return "simdb clusters " + quoted(c.Data) + " " + threshold
	}
	switch ending := filepath.Ext(outfile.PlainName(c.Data)); {
	case c.WholeFiles:
		out += ".txt"
	case ending == "":
		out += ".jsonl"
	default:
		out += ending
	}
	return "simdb " + verb + " " + quoted(c.Data) + " " + threshold + c.sameFlags() + out
}

// sameFlags returns the flags that say how the data are read and compared.
func (c *Tune) sameFlags() string {
	var b strings.Builder
	flag := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " --%s %s", name, quoted(value))
		}
	}
	set := func(name string, on bool) {
		if on {
			b.WriteString(" --" + name)
		}
	}
	set("files", c.WholeFiles)
	for _, e := range c.Exclude {
		flag("exclude", e)
	}
	set("hidden", c.Hidden)
	if c.InputFormat != input.Auto {
		flag("format", string(c.InputFormat))
	}
	flag("id-field", c.IDField)
	flag("id-from", string(c.IDFrom))
	flag("text-field", c.TextField)
	flag("fingerprint-field", c.FingerprintField)
	set("no-header", c.NoHeader)
	if c.Delimiter != 0 {
		flag("delimiter", string(rune(c.Delimiter)))
	}
	if c.Comment != 0 {
		flag("comment", string(rune(c.Comment)))
	}
	if c.Encoding != input.UTF8 {
		flag("encoding", string(c.Encoding))
	}
	if c.Fingerprints != base.Auto {
		flag("fingerprints", fmt.Sprint(c.Fingerprints))
	}
	if c.Shingle.N > 0 {
		flag("shingle", c.Shingle.Unit+":"+strconv.Itoa(c.Shingle.N))
	}
	var fields []string
	for _, f := range c.Field {
		fields = append(fields, fmt.Sprintf("%s:%d", f.Name, f.Weight))
	}
	flag("field", strings.Join(fields, ","))
	set("symbols", c.Symbols)
	flag("stop-words", c.StopWords)
	flag("require-word", c.RequireWord)
	for _, m := range c.Mask {
		flag("mask", m)
	}
	flag("normalize", string(c.Normalize))
	set("strip-diacritics", c.StripDiacritics)
	if c.MinWords > 0 {
		flag("min-words", strconv.Itoa(int(c.MinWords)))
	}
	flag("set-field", c.SetField)
	return b.String()
}

// quoted is a word for a shell.
func quoted(word string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,=@%+", r))
	}
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
