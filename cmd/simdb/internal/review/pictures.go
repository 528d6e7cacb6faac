package review

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// images returns the flags of a run on pictures. Images is nil if the run was not on pictures.
func (h *auditHead) images() (f app.InputFlags) {
	words := strings.Fields(h.Parameters.Reading)
	for i, word := range words[:max(len(words)-1, 0)] {
		switch word {
		case "--images":
			if kind, err := imagehash.ParseKind(words[i+1]); err == nil {
				f.Images = &kind
			}
		case "--orientations":
			f.Orientations = words[i+1]
		}
	}
	return f
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

// pictureAt returns the path of a file from the folder of the page, as a link; "" if there is none.
func (j *job) pictureAt(shown string) string {
	folder, err := filepath.Abs(filepath.Dir(j.c.Output))
	file, err2 := filepath.Abs(records.PathOf(shown))
	path, err3 := filepath.Rel(folder, file)
	if errors.Join(err, err2, err3) != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}
