package review

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// readAs makes the inputs of an audit be read as its run has read them, unless flags say otherwise.
func (j *job) readAs(reading string) {
	var as struct {
		app.InputFormat
		app.PageInputFlags
		Bits int
	}
	run, err := app.ParseReading(reading)
	own, err2 := app.ParseReading(j.c.PageInputFlags.Reading(j.c.InputFormat, 0))
	k, err3 := kong.New(&as, kong.Vars{"inputs": ""}, app.ExactStrings(), kong.Exit(func(int) {}))
	if err = errors.Join(err, err2, err3); err == nil {
		_, err = k.Parse(append(run, own...))
	}
	if err != nil { // of another version
		j.notice("The audit's flags about reading are not understood: %s.", reading)
		return
	}
	j.read, j.format = as.PageInputFlags, as.InputFormat.InputFormat
}

// addPictures finds the pictures of documents without text, whose ids are their paths. It hashes
// them if the run was on pictures.
func (j *job) addPictures(clusters []Cluster, run app.InputFlags) error {
	var paths []string
	byPath := map[string][]*Doc{}
	missing := int64(0)
	for i := range clusters {
		for _, d := range clusters[i].docs() {
			if d.Text != nil || run.Images == nil && !imagehash.HasExtension(d.ID) {
				continue
			}
			path := records.PathOf(d.ID)
			if !filepath.IsAbs(path) {
				path = filepath.Join(j.c.ImageRoot, path)
			}
			if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
				missing++
				continue
			}
			path = records.ShownName(path)
			d.Picture = j.pictureAt(path)
			if byPath[path] == nil {
				paths = append(paths, records.PathOf(path))
			}
			byPath[path] = append(byPath[path], d)
		}
	}
	if missing > 0 {
		j.notice("%s not found: name their folder with --image-root.", quantity.Plain(missing, "picture was", "pictures were"))
	}
	if run.Images == nil || len(paths) == 0 {
		return nil
	}
	src, err := j.a.NewSources(paths, run)
	if err != nil {
		return err
	}
	return j.a.Env().EachInput(j.a.Context(), src, inputs.Reading{
		Stage: "hash pictures", Options: run.Options(records.Auto),
		Record: func(_ records.Source, rec *records.Record) error {
			for _, d := range byPath[rec.Doc.ID] {
				d.setBits(&rec.Doc)
			}
			return nil
		},
	})
}

// setBits sets the fingerprints of a document.
func (d *Doc) setBits(doc *engine.Doc) {
	d.Bits = nil
	for _, words := range doc.Fingerprints {
		d.Bits = append(d.Bits, string(base.AppendHexWords(nil, words)))
	}
}

// pictureAt returns a link to a picture: to the program that shows the page, or from the folder of
// the page; "" if there is none.
func (j *job) pictureAt(shown string) string {
	if j.shown != nil {
		return j.shown.link(records.PathOf(shown))
	}
	folder, err := filepath.Abs(filepath.Dir(j.c.Output))
	file, err2 := filepath.Abs(records.PathOf(shown))
	path, err3 := filepath.Rel(folder, file)
	if errors.Join(err, err2, err3) != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}
