package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/input/files"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
)

// Hash is `simdb hash`.
type Hash struct {
	Files []string `arg:"" file:"in" name:"file" help:"Files with one text each, or with flags that say where documents are with many; with --files or --images folders and patterns too; - is standard input."`
	app.RowInputFlags
	app.RejectFlags
	Sketch app.HashesOrNone `default:"128" placeholder:"N" help:"Hashes of the MinHash sketch, 0 for none (default: 128)."`
	Bits   app.BitLength    `default:"64" placeholder:"BITS" help:"Length of the fingerprint, a multiple of 64 up to 4096 (default: 64, which databases keep; a longer one ends in it)."`
	app.FeatureFlags
	app.RowFlags
}

// Help says what a text is.
func (Hash) Help() string {
	return `A file is one text, whatever its name, and its name the id. With --input-format, or any other flag that says how documents are
written (--text-field, --delimiter, --field, ...), a file has many, as load reads them, and each has a row.`
}

// Validate checks what depends on each other.
func (c *Hash) Validate() error {
	if c.Bits > 64 && c.Given("--shingle", "--symbols") != nil {
		return errors.New("--bits above 64 goes with --shingle and --symbols alone")
	}
	return nil
}

// wide makes fingerprints of any length.
func (c *Hash) wide(p features.Params) (*simhash.Hasher, error) {
	return simhash.New(simhash.Options{Shingle: p.Shingle, Bits: int(c.Bits), CharGrams: p.Features.Unit == engine.UnitChars, Symbols: p.Features.Symbols})
}

// hashing is a run of hash.
type hashing struct {
	*Hash
	a       *app.App
	params  features.Params
	state   *features.Fingerprinter
	long    *simhash.Hasher
	row     func(...any) error
	none    bool // a text has no fingerprint
	rejects *app.Rejects
}

// Run shows the fingerprints and sketches of the texts.
func (c *Hash) Run(a *app.App) error {
	if c.Images != nil {
		return c.pictures(a)
	}
	columns := []string{"id", "fingerprint", "words", "shingles"}
	if c.Sketch > 0 {
		columns = append(columns, "sketch")
	}
	params, of, err := c.FeatureFlags.Params(int(c.Sketch))
	if err != nil {
		return err
	}
	h := &hashing{Hash: c, a: a, params: params, state: features.NewFingerprinter(params)}
	if h.long, err = c.wide(params); err != nil {
		return err
	}
	src, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return err
	}
	opt := c.RowInputFlags.Options()
	if err := app.ReadFeatures(&opt, of); err != nil {
		return err
	}
	many := sayHow(opt)
	opt.MakeID = many && src.Tree == nil
	m := a.Meter()
	defer m.Stop()
	h.rejects = a.NewRejects(c.RejectFlags, c.Output)
	_, err = a.Rows(c.RowFlags, columns, func(row func(...any) error) error {
		h.row = row
		r := app.Reading{Stage: "hash", Meter: m, Options: opt, Rejects: h.rejects, Record: h.record}
		if src.Tree == nil && !many {
			return h.wholeFiles(src, r)
		}
		if err := a.EachInput(src, r); err != nil {
			return err
		}
		a.TellSkipped(src)
		h.rejects.TellUTF8()
		return nil
	})
	if err == nil && h.none {
		err = app.Status(app.ExitNo)
	}
	return h.rejects.Close(err)
}

// sayHow reports whether options say how documents are written.
func sayHow(o input.Options) bool {
	return o.Format != input.Auto || o.IDField != "" || o.TextField != "" || o.Records != "" || o.FingerprintField != "" || o.NoHeader ||
		o.Delimiter != 0 || o.Comment != 0 || o.IDFrom != "" || o.Fingerprints != base.Auto || o.Fields != nil || o.SetField != ""
}

// wholeFiles shows files that are one text each.
func (h *hashing) wholeFiles(src *app.Sources, r app.Reading) error {
	for i, name := range src.Names {
		text, err := readText(name, r.Options.Encoding)
		if err != nil {
			return err
		}
		info, ok := input.Recognize(name, text)
		if ok && info.Format == files.Files && name != "-" {
			if err := h.a.ReadInput(src, i, r); err != nil { // one page, or one mail
				return err
			}
			continue
		}
		if ok && info.Format != "txt" && info.Format != files.Files {
			h.a.Say("%s: read as one text, although it looks like %s; --input-format %s reads its documents", name, info.Shape, info.Format)
		}
		if err := h.text(name, text); err != nil {
			return err
		}
	}
	return nil
}

// record writes the row of a document. One without a text is named.
func (h *hashing) record(_ input.Source, rec *input.Record) error {
	if rec.Doc.Fingerprint != nil && rec.Doc.Text == "" {
		rec.Flaw = "it has a fingerprint, and no text to compute one from"
	}
	return h.text(rec.Doc.ID, rec.Doc.Text)
}

// text writes the row of a text.
func (h *hashing) text(name, text string) error {
	r := h.state.Text(text)
	if r.InvalidUTF8 > 0 {
		h.a.Say("%s: %d bytes are not UTF-8 and count as no letters", name, r.InvalidUTF8)
	}
	values := []any{name, r.Fingerprint, r.Words, r.Shingles}
	switch {
	case r.Empty:
		h.none = true
		h.a.Say("%s: the text has %s and so no fingerprint", name, missingFeatures(r, h.params))
		values[1] = nil
	case h.Bits > 64:
		values[1] = hexWords(h.long, text, int(h.Bits))
	}
	if h.Sketch > 0 {
		values = append(values, sketchJSON(r.Sketch))
	}
	return h.row(values...)
}

// missingFeatures says what a text has not that has no features.
func missingFeatures(r features.Result, p features.Params) string {
	switch {
	case r.Short:
		return fmt.Sprintf("fewer than %d words", p.Features.MinWords)
	case p.Features.Unit == engine.UnitSet:
		return "no members"
	case r.Words > 0:
		return "no shingle with a required word"
	}
	return "no words"
}

// hexWords returns a long fingerprint of text in hexadecimal, the most significant word first.
func hexWords(h *simhash.Hasher, text string, bits int) string {
	words := make([]uint64, bits/64)
	h.Wide(words, text)
	var s strings.Builder
	for _, w := range slices.Backward(words) {
		fmt.Fprintf(&s, "%016x", w)
	}
	return s.String()
}

// sketchJSON returns the hashes of a sketch as a JSON array.
func sketchJSON(s minhash.Sketch) json.RawMessage {
	b := []byte{'['}
	for i, h := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(h), 10)
	}
	return append(b, ']')
}

// readText reads a whole file, decompressed.
func readText(name string, encoding input.Encoding) (text string, err error) {
	f, err := input.OpenContent(name, encoding)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, engine.MaxTextBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > engine.MaxTextBytes {
		return "", fmt.Errorf("%s: %w: a text has at most %d bytes; --input-format reads a file with many documents", name, engine.ErrTooLarge, engine.MaxTextBytes)
	}
	return string(b), nil
}
