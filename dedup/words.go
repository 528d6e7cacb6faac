package dedup

import (
	"context"
	"errors"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
)

// Words compares the texts of the pair that Pairs has yielded last, or of the document to keep and the
// member of its cluster that Clusters has yielded last: it returns the words of the first that the
// second lacks, and those that the second adds, each up to 200 characters. ok is false if a text is
// not known, or both are one document. Listing.Words must be set.
func (l *Documents) Words(ctx context.Context) (lacks, adds string, ok bool, err error) {
	var words [2][]string
	if l.last[0] == l.last[1] {
		return "", "", false, nil
	}
	params := l.params
	if l.stored {
		if params, err = l.sources.Stored.Params(); err != nil {
			return "", "", false, err
		}
	}
	for i, of := range l.last {
		text := ""
		if l.stored {
			doc, e := l.sources.Stored.Get(ctx, of.id)
			text, err = doc.Text, e
		} else {
			text, err = l.texts.Text(of.n)
		}
		if err != nil || text == "" {
			return "", "", false, err
		}
		words[i] = params.Features.Words(text)
	}
	lacks, adds = worddiff.Words(words[0], words[1])
	return lacks, adds, true, nil
}

// differ sets the words of a row in which a document of the input differs from the stored one.
func (j *Join) differ(ctx context.Context, row *JoinRow, doc *engine.Doc) error {
	if !j.o.Words {
		return nil
	}
	params, err := j.o.Stored.Params()
	if err != nil {
		return err
	}
	of := func(id string) (string, error) {
		d, err := j.o.Stored.Get(ctx, id)
		return d.Text, err
	}
	text := doc.Text
	if text == "" && doc.ID != "" { // it stands for a stored document
		text, err = of(doc.ID)
	}
	if err == nil {
		var known string
		known, err = of(row.ID)
		row.setWords(params.Features, known, text)
	}
	if errors.Is(err, engine.ErrNotFound) { // another process has deleted it
		return nil
	}
	return err
}

// setWords sets the words in which two texts differ, unless one is not known.
func (r *JoinRow) setWords(of features.Spec, known, text string) {
	if known != "" && text != "" {
		lacks, adds := worddiff.Words(of.Words(known), of.Words(text))
		r.Lacks, r.Adds = &lacks, &adds
	}
}

// keeperTexts stores the texts of keepers until the documents that are dropped for them are read.
type keeperTexts struct {
	job   *job
	texts *corpus.TextStore
	at    []uint32 // by cluster: 1 more than the number of the keeper's text; 0 if it has none
}

// newKeeperTexts returns the texts for the columns that a job asks for, nil for none.
func newKeeperTexts(d *job) *keeperTexts {
	if !d.c.Columns.ofWords() {
		return nil
	}
	return &keeperTexts{job: d, texts: corpus.NewTextStore(d.c.memory(), d.dir), at: make([]uint32, d.out.clusters)}
}

// close frees the texts.
func (k *keeperTexts) close() error {
	if k == nil {
		return nil
	}
	return k.texts.Close()
}

// add adds the text of a cluster's keeper, unless it was added before.
func (k *keeperTexts) add(cluster uint32, text string) error {
	if k == nil || text == "" || k.at[cluster-1] > 0 {
		return nil
	}
	n, err := k.texts.Add(text)
	k.at[cluster-1] = n + 1
	return err
}

// differ returns the words that a text lacks and adds in comparison with the keeper of its cluster,
// nil if a text is not known or the job does not ask for them.
func (k *keeperTexts) differ(cluster uint32, text string) (lacks, adds *string, err error) {
	if k == nil || text == "" || k.at[cluster-1] == 0 {
		return nil, nil, nil
	}
	keeper, err := k.texts.Text(k.at[cluster-1] - 1)
	if err != nil {
		return nil, nil, err
	}
	of := k.job.params.Features
	before, after := worddiff.Words(of.Words(keeper), of.Words(text))
	if k.job.c.Columns.has("lacks") {
		lacks = &before
	}
	if k.job.c.Columns.has("adds") {
		adds = &after
	}
	return lacks, adds, nil
}
