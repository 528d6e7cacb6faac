package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/health"
)

// readDB draws the sample from a database: its documents are compared as those of files are.
func (l *fileList) readDB(path string) (err error) {
	db, err := l.a.Open(path, app.Access{OrFile: true, Features: l.f.FeatureFlags, Memory: l.o.Memory})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	p := db.Params()
	if l.by.Sets && !p.Text {
		return fmt.Errorf("%s keeps no texts, which --sample compares by --jaccard", path)
	}
	spec, err := features.Spec(p.Features).Canonical()
	if err != nil {
		return err
	}
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	for range s.Allowed() {
		l.allowed = true
		break
	}
	docs, err := l.draw(s)
	if err != nil {
		return err
	}
	l.params = features.Params{Shingle: p.Shingle, Features: spec}
	x := corpus.NewExtractor(l.a.Context(), l.params, l.Corpus)
	defer x.Stop()
	for _, d := range docs {
		if err := l.add(x, &d); err != nil {
			return err
		}
	}
	if err := x.Finish(); err != nil {
		return err
	}
	return l.Rank(l.a.Context())
}

// draw returns a sample of the documents, in the order of writing, with what they are compared by.
func (l *fileList) draw(s *engine.Snapshot) ([]engine.Doc, error) {
	ctx := l.a.Context()
	for e, err := range s.Entries(ctx, engine.EntryFilter{Unordered: true}) {
		if err == nil {
			err = l.sample.Add(&engine.Doc{ID: strings.Clone(e.ID)})
		}
		if err != nil {
			return nil, err
		}
		l.meter.Report(engine.Progress{Stage: "draw documents", Done: l.sample.Seen(), Unit: "documents"})
	}
	docs := l.sample.Documents()
	ids, written := make([]string, len(docs)), make(map[string]uint64, len(docs))
	for i, d := range docs {
		e, err := s.Lookup(ctx, d.ID)
		if err != nil {
			return nil, err
		}
		if ids[i], written[d.ID] = d.ID, e.Seq; !l.by.Sets && e.HasFingerprint {
			docs[i].Fingerprint = &e.Fingerprint
		}
	}
	if l.by.Sets {
		room := int64(l.o.Memory) / 2
		err := s.GetEach(ctx, ids, func(i int, d engine.Doc) error {
			docs[i].Text = d.Text
			if room -= int64(len(d.Text)); room < 0 {
				return health.ErrLarge
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(docs, func(a, b engine.Doc) int {
		return cmp.Or(cmp.Compare(written[a.ID], written[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return docs, nil
}

// errAllowed refuses clusters of a sample that would not keep allowed pairs apart.
var errAllowed = errors.New("some pairs are allowed, which clusters of a --sample do not keep apart: leave out --sample, or list pairs")
