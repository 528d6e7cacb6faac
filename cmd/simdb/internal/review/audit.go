package review

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// An audit is read twice: first for the weakest edge of each cluster, then for the rows of the
// picked clusters. Then the inputs are read for the texts of these rows.

// auditHead is the first line of an audit.
type auditHead struct {
	Version    string `json:"simdb"`
	Parameters struct {
		dedup.Measures
		Estimate bool   `json:"estimate"` // from match
		Level    string `json:"level"`    // from dedup --level
		Rule     string `json:"rule"`     // of pairs
		Reading  string `json:"reading"`  // flags about how texts are read
		Text     string `json:"against_text_field"`
		ID       string `json:"against_id_field"`
		Database string `json:"database"` // from match: the database with the keepers
	} `json:"parameters"`
	Inputs  []dedup.AuditInput `json:"inputs"`
	Against []dedup.AuditInput `json:"against"`
}

// ofFolder reports whether the documents were files, as with --files.
func (h *auditHead) ofFolder() bool {
	return len(h.Inputs) == 1 && h.Inputs[0].Bytes != nil &&
		(h.Inputs[0].XXH3 == nil || strings.HasPrefix(h.Parameters.Reading, "--files "))
}

// audit reviews the clusters of an audit, or of rows.
func (j *job) audit() error {
	if !j.c.ByDefault() || j.c.Grouped() || j.c.Estimate {
		return errors.New("--near, --jaccard, --rule and other criteria are for a database: an audit has the criterion of its run")
	}
	head, err := j.readHead()
	if err != nil {
		return err
	}
	if len(j.c.Documents) > 0 && j.rows == nil {
		return fmt.Errorf("%s is an audit, which says where the documents are: leave out %s", j.c.Data, j.c.Documents[0])
	}
	j.readAs(head.Parameters.Reading)
	p := head.Parameters
	if by := p.Criterion(); by.Kind() != "" {
		if p.Estimate {
			by = by.Estimated()
		}
		j.page.Criterion = "Near-duplicates: " + app.Meaning(by) + "."
	}
	if p.Rule != "" {
		j.page.Criterion = "Near-duplicates: " + p.Rule
	}
	if p.Level != "" {
		return fmt.Errorf("%s was written by dedup --level %s, which compares no documents", j.c.Data, p.Level)
	}
	if j.sel.Sample > 0 {
		err = j.sampleRows(head)
	} else if worst, failed := j.worst(); failed != nil {
		err = failed
	} else {
		err = j.pickRows(head, worst)
	}
	if err != nil {
		return err
	}
	clusters := j.pick.picked()
	if j.rows != nil {
		if err := j.readDocuments(clusters); err != nil {
			return err
		}
		j.tellLeftOut(clusters, len(clusters))
		return j.addPictures(clusters, app.InputFlags{})
	}
	want := map[place][]*Doc{}
	for i := range clusters {
		for _, d := range clusters[i].docs() {
			want[d.at] = append(want[d.at], d)
		}
	}
	images := app.InputFlags{}
	if images.Images, images.Orientations = j.read.Images, j.read.Orientations; images.Images == nil {
		if err := j.readTexts(head, want); err != nil {
			return err
		}
	}
	if err := j.readStored(clusters); err != nil {
		return err
	}
	j.tellLeftOut(clusters, len(clusters))
	return j.addPictures(clusters, images)
}

// readStored reads the texts of documents that are in databases. It reports a database that it
// cannot open.
func (j *job) readStored(clusters []Cluster) error {
	stored := map[string][]*Doc{}
	for i := range clusters {
		for _, d := range clusters[i].docs() {
			if d.stored != "" {
				stored[d.stored] = append(stored[d.stored], d)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		if err := j.readDocs(path, stored[path]); err != nil {
			j.notice("Texts are missing: %v.", err)
		}
	}
	return j.a.Context().Err()
}

// readDocs reads the texts of documents of a database.
func (j *job) readDocs(path string, docs []*Doc) (err error) {
	s, err := j.a.Env().OpenStored(path, inputs.Access{})
	if err != nil {
		return err
	}
	defer s.Close(&err)
	for _, d := range docs {
		if err := j.get(j.a.Context(), s, d); err != nil {
			return err
		}
	}
	return nil
}

// docs returns the keeper and the members.
func (c *Cluster) docs() []*Doc {
	all := []*Doc{&c.Keeper}
	for i := range c.Members {
		all = append(all, &c.Members[i])
	}
	return all
}

// maxAuditLine limits the length of a line of an audit, which consists mostly of ids.
const maxAuditLine = 64 << 20

// eachLine calls f for every line of the audit.
func (j *job) eachLine(f func(n int64, line []byte) error) error {
	r, err := records.OpenContent(j.a.Context(), j.c.Data, records.UTF8)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxAuditLine)
	for n := int64(1); s.Scan(); n++ {
		if err := cmp.Or(j.step(n), f(n, s.Bytes())); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", j.c.Data, err)
	}
	return nil
}

// step reports that n rows were read. It returns the error of an interruption.
func (j *job) step(n int64) error {
	if n%4096 != 0 {
		return nil
	}
	j.meter.Report(engine.Progress{Stage: "read rows", Done: n, Unit: "rows"})
	return j.a.Context().Err()
}

// readHead reads the first line: of an audit, or of rows.
func (j *job) readHead() (h auditHead, err error) {
	err = j.eachLine(func(_ int64, line []byte) error {
		if json.Unmarshal(line, &h) == nil && h.Version != "" {
			return io.EOF
		}
		if j.rows = rowsHeadOf(line); j.rows == nil {
			return fmt.Errorf("%s is neither a database, nor an audit of dedup -o FILE or match --audit FILE, nor rows of pairs, clusters or join with --format jsonl or csv", j.c.Data)
		}
		return io.EOF
	})
	if err == io.EOF {
		return h, nil
	}
	if err == nil {
		err = fmt.Errorf("%s is empty", j.c.Data)
	}
	return h, err
}

// eachRow calls f for every row about a near-duplicate that the selection passes. If there are no
// numbers of clusters, as with match, documents with the same keeper are a cluster.
func (j *job) eachRow(f func(r *dedup.AuditRow)) error {
	rows := j.auditRows
	if j.rows != nil {
		rows = j.listedRows
	}
	return rows(func(r *dedup.AuditRow) {
		if r.ID == nil || r.Keeper == nil || !j.wants(*r.Keeper, *r.ID, r.Score, distance(r), r.Rule) {
			return
		}
		if r.Cluster == nil {
			n, ok := j.keepers[*r.Keeper]
			if !ok {
				n = uint32(len(j.keepers)) + 1
				j.keepers[*r.Keeper] = n
			}
			r.Cluster = &n
		}
		f(r)
	})
}

// auditRows calls f for every row of an audit.
func (j *job) auditRows(f func(r *dedup.AuditRow)) error {
	return j.eachLine(func(n int64, line []byte) error {
		if n == 1 {
			return nil
		}
		var r dedup.AuditRow
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%s:%d: %w", j.c.Data, n, err)
		}
		f(&r)
		return nil
	})
}

// distance converts the distance of a row for the page.
func distance(r *dedup.AuditRow) *int {
	if r.Distance == nil {
		return nil
	}
	return new(int(*r.Distance))
}

// weakEdge is the weakest edge of a cluster.
type weakEdge struct {
	cluster uint32
	risk    risk
	size    int64 // documents other than the keeper
	keeper  string
}

// worst returns the numbers of the clusters with the weakest edges, as many as the page shows.
func (j *job) worst() (map[uint32]bool, error) {
	edges := map[uint32]*weakEdge{}
	err := j.eachRow(func(r *dedup.AuditRow) {
		e := edges[*r.Cluster]
		if e == nil {
			e = &weakEdge{cluster: *r.Cluster, keeper: *r.Keeper}
			edges[*r.Cluster] = e
		}
		e.risk = max(e.risk, riskOf(r.Score, distance(r)))
		e.size++
		j.tally.add(r.Score, distance(r))
	})
	all := slices.SortedFunc(maps.Values(edges), func(a, b *weakEdge) int {
		return cmp.Or(cmp.Compare(b.risk, a.risk), cmp.Compare(b.size, a.size), cmp.Compare(a.keeper, b.keeper), cmp.Compare(a.cluster, b.cluster))
	})
	picked := map[uint32]bool{}
	for i, e := range all {
		j.tally.sizes[e.size+1]++
		if i < j.pick.limit {
			picked[e.cluster] = true
		}
	}
	j.pick.clusters = int64(len(all))
	return picked, err
}

// pickRows collects the rows of the clusters that the page shows.
func (j *job) pickRows(head auditHead, clusters map[uint32]bool) error {
	groups := map[uint32]*group{}
	err := j.eachRow(func(r *dedup.AuditRow) {
		if !clusters[*r.Cluster] {
			return
		}
		g := groups[*r.Cluster]
		if g == nil {
			g = &group{keeper: keeperOf(head, r)}
			groups[*r.Cluster] = g
		}
		g.add(edgeOf(r), j.pick.members)
	})
	all := j.pick.clusters
	for _, n := range slices.Sorted(maps.Keys(groups)) {
		j.pick.add(*groups[n])
	}
	j.pick.clusters = all
	return err
}

// sampleRows draws rows at random.
func (j *job) sampleRows(head auditHead) error {
	sizes := map[uint32]int64{}
	err := j.eachRow(func(r *dedup.AuditRow) {
		sizes[*r.Cluster]++
		j.tally.add(r.Score, distance(r))
		if key := j.drawn.draw(*r.Keeper, *r.ID); j.drawn.wants(key) {
			j.drawn.add(drawn{key, *r.Cluster, keeperOf(head, r), edgeOf(r)})
		}
	})
	j.addDrawn(sizes)
	return err
}

// keeperOf returns the keeper of a row.
func keeperOf(head auditHead, r *dedup.AuditRow) Doc {
	d := Doc{ID: *r.Keeper}
	switch {
	case r.KeeperFile != nil && r.KeeperLine != nil:
		d.setPlace(*r.KeeperFile, *r.KeeperLine)
	case r.KeeperFile != nil:
		d.stored = *r.KeeperFile
	default:
		d.stored = head.Parameters.Database
	}
	return d
}

// edgeOf returns the document of a row.
func edgeOf(r *dedup.AuditRow) edge {
	d := Doc{ID: *r.ID, Score: r.Score, Distance: distance(r), Exact: r.Exact, Rule: r.Rule}
	d.setPlace(r.File, r.Line)
	return edge{riskOf(r.Score, d.Distance), d}
}

// setPlace sets where a document is: at a line of a file, or in a database if line is 0.
func (d *Doc) setPlace(file string, line records.Position) {
	if line == 0 {
		d.stored = file
		return
	}
	d.at = place{file, line}
	d.Place = fmt.Sprintf("%s:%d", file, line)
}

// readTexts reads the texts of documents at their places. A document whose text is not found gets a
// note.
func (j *job) readTexts(head auditHead, want map[place][]*Doc) error {
	byFile := map[string]map[records.Position][]*Doc{}
	for at, docs := range want {
		if at.file == "" {
			continue
		}
		if byFile[at.file] == nil {
			byFile[at.file] = map[records.Position][]*Doc{}
		}
		byFile[at.file][at.line] = docs
	}
	digests := map[string]string{}
	for _, in := range head.Inputs {
		if in.XXH3 != nil && !head.ofFolder() {
			digests[in.File] = *in.XXH3
		}
	}
	var gone []string
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		found, err := j.readFile(&head, file, byFile[file])
		switch {
		case errors.Is(err, fs.ErrNotExist) || file == "stdin":
			gone = append(gone, file)
		case err != nil:
			return err
		case !found:
			j.notice("Texts of %s are missing: it does not have the documents that the audit names.", file)
		}
		if err == nil && digests[file] != "" {
			if err := j.compareDigest(file, digests[file]); err != nil {
				return err
			}
		}
	}
	if len(gone) > 0 {
		const shown = 3
		j.notice("Texts are missing, as these files cannot be read: %s.", strings.Join(gone[:min(len(gone), shown)], ", "))
	}
	for _, docs := range want {
		for _, d := range docs {
			if d.Text == nil && d.Bits == nil && d.Note == "" && d.stored == "" {
				d.Note = "Its text was not found in " + d.Place + "."
			}
		}
	}
	return nil
}

// compareDigest reports if a file has changed since the audit was written.
func (j *job) compareDigest(file, digest string) error {
	now, err := dedup.Digest(j.a.Context(), records.PathOf(file))
	if err == nil && *now.XXH3 != digest {
		j.notice("%s was changed after the audit was written: texts may be missing or different.", file)
	}
	return err
}

// give sets the text of a document as it was read, or its fingerprints.
func (j *job) give(d *Doc, doc *engine.Doc) {
	switch {
	case doc.Text == "" && doc.Fingerprints != nil:
		d.setBits(doc)
	case j.room > 0:
		j.setText(d, doc.Text)
	default:
		d.Note = "The page is too large to hold its text: lower --limit."
	}
}

// readFile reads the texts of documents of one file; found is false if some are missing.
func (j *job) readFile(head *auditHead, file string, want map[records.Position][]*Doc) (found bool, err error) {
	left := 0
	for _, docs := range want {
		left += len(docs)
	}
	give := func(docs []*Doc, doc *engine.Doc) {
		for _, d := range docs {
			if d.ID == doc.ID {
				left--
				j.give(d, doc)
			}
		}
	}
	if head.ofFolder() {
		text, err := os.ReadFile(records.PathOf(file))
		give(want[1], &engine.Doc{ID: file, Text: string(text)})
		return left == 0, err
	}
	opt := j.read.Options(j.format)
	opt.MakeID = true
	if slices.ContainsFunc(head.Against, func(in dedup.AuditInput) bool { return in.File == file }) {
		opt.TextField, opt.IDField = cmp.Or(head.Parameters.Text, opt.TextField), cmp.Or(head.Parameters.ID, opt.IDField)
	}
	src, err := inputs.FileSources([]string{records.PathOf(file)})
	if err != nil {
		return false, err
	}
	damaged := false
	err = j.a.Env().EachInput(j.a.Context(), src, inputs.Reading{
		Stage: "read texts", Options: opt,
		Record: func(_ records.Source, rec *records.Record) error {
			if docs := want[rec.Pos]; docs != nil {
				give(docs, &rec.Doc)
			}
			if left == 0 {
				return records.ErrStop
			}
			return nil
		},
		Damaged: func(error) { damaged = true },
	})
	return left == 0 && !damaged, err
}
