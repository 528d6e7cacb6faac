package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
	"github.com/simdb/simdb/simhash"
)

// Hash is `simdb hash`.
type Hash struct {
	Files []string `arg:"" file:"in" name:"file" help:"Files with one text each, or with many documents if flags describe them; with --files or --images also folders and patterns; - is standard input."`
	app.RowInputFlags
	app.RejectFlags
	Sketch  app.HashesOrNone `default:"128" placeholder:"N" help:"Hashes of the MinHash sketch, 0 for none (default: 128)."`
	Compare bool             `help:"Compare two texts instead: a row with the distance of their fingerprints, the share of equal bits, and the estimated cosine of their sets of shingles with its standard error, which more --bits reduce. With --images, compare two pictures, without a cosine."`
	app.FeatureFlags
	app.RowFlags
}

// Help says what counts as a text.
func (Hash) Help() string {
	return `A file is one text, whatever its name, and its name is the id. With --input-format, or any other flag that describes documents
(--text-field, --delimiter, --field, ...), a file holds many documents, as for load, and each has a row.`
}

type hashing struct {
	*Hash
	a       *app.App
	params  features.Params
	state   *features.Fingerprinter
	row     func(...any) error
	count   func(*engine.Doc) error // receives texts instead, for weights; or nil
	none    bool                    // a text has no fingerprint
	names   []string                // names of texts or pictures, for --compare
	prints  [][]base.Fingerprint    // their fingerprints
	rejects *inputs.Rejects
}

// Run shows the fingerprints and sketches of the texts.
func (c *Hash) Run(a *app.App) error {
	opt := c.RowInputFlags.Options()
	columns, err := c.columns(opt.Orientations)
	if err != nil {
		return err
	}
	h := &hashing{Hash: c, a: a}
	record := h.picture
	if c.Images == nil {
		var of engine.Features
		if h.params, of, err = c.FeatureFlags.Params(int(c.Sketch)); err == nil {
			err = inputs.ReadFeatures(&opt, of)
		}
		record = h.record
	}
	if err != nil {
		return err
	}
	src, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return err
	}
	many := sayHow(opt)
	opt.MakeID = many && src.Tree == nil
	m := a.Meter()
	defer m.Stop()
	h.rejects = a.NewRejects(c.RejectFlags, c.Output)
	_, err = a.RowsTo(c.RowFlags, columns, func(w *output.Writer) error {
		h.row = w.Row
		r := inputs.Reading{Stage: "hash", Options: opt, Record: record}
		whole := src.Tree == nil && !many
		if c.Images == nil {
			err = h.weigh(src, r, whole)
		}
		if r.Rejects = h.rejects; err == nil {
			err = h.each(src, r, whole)
		}
		if err == nil && !whole {
			a.Env().TellSkipped(src, h.rejects)
			h.rejects.TellUTF8()
		}
		if err == nil && c.Compare {
			err = h.compare()
		}
		return err
	})
	if err == nil && h.none {
		err = app.Status(app.ExitNo)
	}
	return h.rejects.Close(err)
}

// each reads the texts.
func (h *hashing) each(src *inputs.Sources, r inputs.Reading, whole bool) error {
	if whole {
		return h.wholeFiles(src, r)
	}
	return h.a.Env().EachInput(h.a.Context(), src, r)
}

// weigh prepares the hashing of texts, with weights of their features.
func (h *hashing) weigh(src *inputs.Sources, r inputs.Reading, whole bool) error {
	compared, err := h.Compared()
	if err != nil {
		return err
	}
	if (compared.Weights == inputs.IDF || compared.IgnoreCommon != 0) && slices.Contains(src.Names, "-") {
		return fmt.Errorf("%s and %s read the texts twice: write standard input to a file", option.Set("Weights", inputs.IDF), option.Name("IgnoreCommon"))
	}
	dir, err := h.a.TempDirIn("")
	if err != nil {
		return err
	}
	w := inputs.Weighing{Inputs: src, Read: r.Options, Memory: app.DefaultMemory(), Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		h.count = count
		return h.each(src, r, whole)
	}
	err = h.a.Env().Weigh(h.a.Context(), compared, &h.params, w)
	h.count, h.state = nil, features.NewFingerprinter(h.params)
	return err
}

// sayHow reports whether options say how documents are written.
func sayHow(o records.Options) bool {
	return o.Format != records.Auto || o.IDField != "" || o.TextField != "" || o.Records != "" || o.RecordStart != "" || o.FingerprintField != "" || o.NoHeader ||
		o.Delimiter != 0 || o.Comment != 0 || o.IDFrom != "" || o.Fingerprints != base.Auto || o.Fields != nil || o.SetField != ""
}

// orientations name the hashes of a picture with --orientations 8, as Meta's PDQ does.
var orientations = []string{"original", "rotate90", "rotate180", "rotate270", "flipX", "flipY", "flipPlus1", "flipMinus1"}

// columns returns the columns of rows: of pictures in one or eight orientations, or of texts.
func (c *Hash) columns(eight bool) ([]string, error) {
	switch pictures := c.Images != nil; {
	case c.Compare && eight:
		return nil, errors.New("--compare does not rotate pictures: remove --orientations 8")
	case c.Compare && pictures:
		return []string{"a", "b", "distance", "equal"}, c.CheckImages(c.FileFlags)
	case c.Compare:
		return []string{"a", "b", "distance", "equal", "cosine", "error"}, nil
	case eight:
		return []string{"id", "orientation", "fingerprint", "quality"}, c.CheckImages(c.FileFlags)
	case pictures:
		return []string{"id", "fingerprint", "quality"}, c.CheckImages(c.FileFlags)
	case c.Sketch > 0:
		return []string{"id", "fingerprint", "words", "shingles", "sketch"}, nil
	}
	return []string{"id", "fingerprint", "words", "shingles"}, nil
}

// picture writes the rows of a picture, one for each orientation.
func (h *hashing) picture(_ records.Source, rec *records.Record) error {
	switch {
	case rec.Picture == nil:
		return nil
	case rec.Picture.Refused != nil:
		rec.Flaw = rec.Picture.Refused.Error()
		return nil
	}
	if h.Compare {
		h.names, h.prints = append(h.names, rec.Doc.ID), append(h.prints, rec.Picture.Hashes[0])
		return nil
	}
	var quality any
	if rec.Picture.Quality >= 0 {
		quality = rec.Picture.Quality
	}
	for i, hash := range rec.Picture.Hashes {
		values := []any{rec.Doc.ID, string(base.AppendHexWords(nil, hash)), quality}
		if h.Orientations == "8" {
			values = slices.Insert(values, 1, any(orientations[i]))
		}
		if err := h.row(values...); err != nil {
			return err
		}
	}
	return nil
}

// wholeFiles hashes files that are one text each.
func (h *hashing) wholeFiles(src *inputs.Sources, r inputs.Reading) error {
	for i, name := range src.Names {
		text, err := readText(h.a.Context(), name, r.Options.Encoding)
		if err != nil {
			return err
		}
		info, ok := records.Recognize(name, text)
		if ok && info.Format == files.Files && name != "-" {
			if err := h.a.Env().ReadInput(h.a.Context(), src, i, r); err != nil { // one page, or one mail
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

// record writes the row of a document. It reports a document without a text.
func (h *hashing) record(_ records.Source, rec *records.Record) error {
	if rec.Doc.Fingerprints != nil && rec.Doc.Text == "" {
		rec.Flaw = "it has a fingerprint, and no text to compute one from"
	}
	return h.text(rec.Doc.ID, rec.Doc.Text)
}

func (h *hashing) text(name, text string) error {
	if h.count != nil {
		return h.count(&engine.Doc{Text: text})
	}
	r := h.state.Text(text)
	if r.InvalidUTF8 > 0 {
		h.a.Say("%s: %d bytes are not UTF-8 and are not compared", name, r.InvalidUTF8)
	}
	values, words := []any{name, r.Fingerprint, r.Words, r.Shingles}, append([]base.Fingerprint{r.Fingerprint}, r.Rest...)
	switch {
	case r.Empty:
		h.none = true
		h.a.Say("%s: the text has %s, so it has no fingerprint", name, missingFeatures(r, h.params))
		values[1] = nil
	case len(words) > 1:
		values[1] = string(base.AppendHexWords(nil, words))
	}
	if h.Compare {
		h.names, h.prints = append(h.names, name), append(h.prints, words)
		return nil
	}
	if h.Sketch > 0 {
		values = append(values, sketchJSON(r.Sketch))
	}
	return h.row(values...)
}

// compare writes the row of two texts or pictures.
func (h *hashing) compare() error {
	if n := len(h.names); n != 2 {
		return fmt.Errorf("--compare needs two, not %d: simdb hash --compare A B", n)
	}
	if h.none {
		return nil
	}
	bits := base.FingerprintBits * len(h.prints[0])
	d := base.DistanceWords(h.prints[0], h.prints[1])
	values := []any{h.names[0], h.names[1], d, 1 - float64(d)/float64(bits)}
	if h.Images == nil {
		cosine, stderr := simhash.Cosine(d, bits)
		values = append(values, cosine, stderr)
	}
	return h.row(values...)
}

// missingFeatures says why a text has no features.
func missingFeatures(r features.Result, p features.Params) string {
	switch {
	case r.Short:
		return fmt.Sprintf("fewer than %d words", p.Features.MinWords)
	case features.IsGiven(p.Features.Unit):
		return "no members"
	case r.Words > 0 && p.Ignored != nil && p.Features.RequireWords == nil:
		return "no features but ignored ones"
	case r.Words > 0:
		return "no shingle with a required word"
	}
	return "no words"
}

// sketchJSON returns the hashes of a sketch as a JSON array.
func sketchJSON(s minhash.Sketch) json.RawMessage {
	b, _ := json.Marshal(append(minhash.Sketch{}, s...)) // not null for an empty sketch; numbers can always be encoded
	return b
}

// readText reads a whole file, decompressed.
func readText(ctx context.Context, name string, encoding records.Encoding) (text string, err error) {
	f, err := records.OpenContent(ctx, name, encoding)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, base.MaxTextBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > base.MaxTextBytes {
		return "", fmt.Errorf("%s: %w: a text has at most %d bytes; --input-format reads a file with many documents", name, engine.ErrTooLarge, base.MaxTextBytes)
	}
	return string(b), nil
}
