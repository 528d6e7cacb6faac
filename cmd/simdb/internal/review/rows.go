package review

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Rows of pairs, clusters and join name documents by id and do not say where they are: arguments
// do, as for the command that wrote the rows. They become rows of an audit.

// rowsHead says what kind of rows a file has.
type rowsHead struct {
	columns []string // of a csv file; nil for JSON lines
	join    bool     // the second id is that of a document of the first argument, query of the others
}

// listedRow is a row of pairs, clusters or join.
type listedRow struct {
	A, B, Query, ID *string
	Cluster         *uint32
	Keep            bool
	Score           *float64
	Distance        *uint16
	Exact           *bool
}

// rowsHeadOf returns the kind of rows that begin with a line, or nil.
func rowsHeadOf(line []byte) *rowsHead {
	var h rowsHead
	var object map[string]json.RawMessage
	has := func(name string) bool { return object[name] != nil }
	if json.Unmarshal(line, &object) != nil {
		columns, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(line, []byte("\ufeff")))).Read()
		if err != nil {
			return nil
		}
		h.columns = columns
		has = func(name string) bool { return slices.Contains(columns, name) }
	}
	if h.join = has("query") && has("id"); h.join || has("a") && has("b") || has("cluster") && has("id") && has("keep") {
		return &h
	}
	return nil
}

// listedRows calls f for every row. A cluster's first row is its keeper.
func (j *job) listedRows(f func(r *dedup.AuditRow)) error {
	keepers := map[uint32]*string{}
	add := func(n int64, r *listedRow, err error) error {
		if err != nil {
			return fmt.Errorf("%s:%d: %w", j.c.Data, n, err)
		}
		row := dedup.AuditRow{ID: r.B, Keeper: r.A, Score: r.Score, Distance: r.Distance, Exact: r.Exact, Cluster: r.Cluster}
		switch {
		case j.rows.join:
			row.ID, row.Keeper = r.Query, r.ID
		case r.Cluster != nil && r.Keep:
			keepers[*r.Cluster] = r.ID
			return nil
		case r.Cluster != nil:
			if row.ID, row.Keeper = r.ID, keepers[*r.Cluster]; row.Keeper == nil {
				return fmt.Errorf("%s:%d: no row before it is the document to keep of cluster %d", j.c.Data, n, *r.Cluster)
			}
		}
		if row.ID == nil || row.Keeper == nil {
			return fmt.Errorf("%s:%d: the row does not name two documents", j.c.Data, n)
		}
		f(&row)
		return nil
	}
	if j.rows.columns == nil {
		return j.eachLine(func(n int64, line []byte) error {
			var r listedRow
			err := json.Unmarshal(line, &r)
			return add(n, &r, err)
		})
	}
	in, err := records.OpenContent(j.a.Context(), j.c.Data, records.UTF8)
	if err != nil {
		return err
	}
	defer in.Close()
	r := csv.NewReader(in)
	r.ReuseRecord = true
	for n := int64(1); ; n++ {
		values, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", j.c.Data, err)
		}
		if n > 1 {
			line, _ := r.FieldPos(0)
			row, err := j.rows.row(values)
			if err = add(int64(line), &row, err); err != nil {
				return err
			}
		}
		if err := j.step(n); err != nil {
			return err
		}
	}
}

// row returns a row of a csv file. An empty value says nothing.
func (h *rowsHead) row(values []string) (r listedRow, err error) {
	for i, name := range h.columns {
		var id **string
		var other any
		switch name {
		case "a":
			id = &r.A
		case "b":
			id = &r.B
		case "query":
			id = &r.Query
		case "id":
			id = &r.ID
		case "cluster":
			other = &r.Cluster
		case "keep":
			other = &r.Keep
		case "score":
			other = &r.Score
		case "distance":
			other = &r.Distance
		case "exact":
			other = &r.Exact
		}
		value := values[i]
		if id != nil {
			*id = new(records.ValidText(strings.Clone(value))) // which would retain the whole line
		} else if other != nil && value != "" && json.Unmarshal([]byte(value), other) != nil {
			return r, fmt.Errorf("%s: %q is not a valid value", name, value)
		}
	}
	return r, nil
}

// readDocuments reads the texts of the documents that rows name.
func (j *job) readDocuments(clusters []Cluster) error {
	args := j.c.Documents
	if len(args) == 0 {
		j.notice("Texts are missing: name the files or databases with the documents after %s.", j.c.Data)
		return nil
	}
	left, right := map[string][]*Doc{}, map[string][]*Doc{}
	if !j.rows.join {
		right = left
	} else if len(args) != 2 {
		return fmt.Errorf("rows of join need the two arguments of join after %s: the documents of the column id, then those of the column query", j.c.Data)
	}
	for i := range clusters {
		c := &clusters[i]
		left[c.Keeper.ID] = append(left[c.Keeper.ID], &c.Keeper)
		for m := range c.Members {
			right[c.Members[m].ID] = append(right[c.Members[m].ID], &c.Members[m])
		}
	}
	opt := j.c.PageInputFlags.Options(j.c.InputFormat)
	opt.MakeID, opt.Need = true, records.NeedText
	for i, arg := range args {
		want, of := left, opt
		if j.rows.join && i == 1 {
			want, of.TextField, of.IDField = right, cmp.Or(j.c.TextFieldB, opt.TextField), cmp.Or(j.c.IDFieldB, opt.IDField)
		}
		if err := j.readNamed(arg, of, clusters, want); err != nil {
			return err
		}
	}
	for _, want := range []map[string][]*Doc{left, right} {
		for _, docs := range want {
			for _, d := range docs {
				if d.Text == nil && d.Bits == nil && d.Note == "" {
					d.Note = "No document with this id was found in " + strings.Join(args, ", ") + "."
				}
			}
		}
	}
	return nil
}

// readNamed reads documents with these ids from files or a database. The first one with an id
// counts. From a database, texts are read in the order of clusters, as there may be no space for all.
func (j *job) readNamed(arg string, opt records.Options, clusters []Cluster, want map[string][]*Doc) (err error) {
	flags := j.c.InputFlags
	if what, _ := engine.Identifier()(arg); what != "" {
		flags = app.InputFlags{} // they are for the other argument
	}
	s, err := j.a.NewCollection([]string{arg}, flags, inputs.Access{OrFile: true})
	if err != nil {
		return err
	}
	defer s.Stored.Close(&err)
	left := len(want)
	give := func(doc *engine.Doc, place string) {
		for _, d := range want[doc.ID] {
			if d.Text == nil && d.Bits == nil && d.Note == "" {
				j.give(d, doc)
				d.Place = cmp.Or(d.Place, place)
			}
		}
	}
	seen := map[string]bool{}
	if s.Stored != nil {
		for i := range clusters {
			for _, d := range clusters[i].docs() {
				if want[d.ID] == nil || seen[d.ID] {
					continue
				}
				seen[d.ID] = true
				doc, err := s.Stored.Get(j.a.Context(), d.ID)
				if err == nil {
					give(&doc, fieldsOf(&doc))
				} else if !errors.Is(err, engine.ErrNotFound) {
					return fmt.Errorf("%q: %w", d.ID, err)
				}
			}
		}
		return nil
	}
	return j.a.Env().EachInput(j.a.Context(), s, inputs.Reading{
		Stage: "read texts", Options: opt,
		Record: func(_ records.Source, rec *records.Record) error {
			if want[rec.Doc.ID] == nil || seen[rec.Doc.ID] {
				return nil
			}
			seen[rec.Doc.ID] = true
			give(&rec.Doc, fmt.Sprintf("%s:%d", rec.File, rec.Pos))
			if left--; left == 0 {
				return records.ErrStop
			}
			return nil
		},
		Damaged: func(err error) { j.notice("Texts may be missing: %v.", err) },
	})
}
