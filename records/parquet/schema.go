package parquet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// nodeKind is the JSON form of a column.
type nodeKind uint8

const (
	leafNode  nodeKind = iota
	groupNode          // an object
	listNode           // an array with the elements of its only child
	mapNode            // an object, or an array of entries if keys are not strings
)

// node is a column and the columns within it.
type node struct {
	kind     nodeKind
	key      []byte // "name":, the beginning of a member of a JSON object
	optional bool
	repeated bool
	def, rep int       // the levels at which it is present
	leaves   []int     // numbers of the leaf columns within it, or its own number, except for skipped ones
	children []*node   // columns of a group; the element of a list; key and value of a map
	format   formatter // only for leaves
	skip     bool      // not part of Doc.Fields
}

// newTree returns the tree of a file's columns without the leaves in skip.
func (f *file) newTree(col *pq.Column, skip []int) *node {
	n := &node{
		optional: col.Optional(), repeated: col.Repeated(), def: col.MaxDefinitionLevel(), rep: col.MaxRepetitionLevel(),
		key: append(records.AppendString(nil, strings.ToValidUTF8(col.Name(), "\uFFFD")), ':'),
	}
	if col.Leaf() {
		n.format = formatterOf(col.Type())
		if _, is := f.elements[col.Index()].LogicalType.Value.(*format.Float16Type); is && col.Type().Length() == 2 {
			// parquet-go does not support this type.
			n.format = func(b []byte, v pq.Value) []byte { return records.AppendFloat(b, half(v.ByteArray()), 32) }
		}
		if n.skip = slices.Contains(skip, col.Index()); !n.skip {
			n.leaves = []int{col.Index()}
		}
		return n
	}
	n.kind = groupNode
	for _, child := range col.Columns() {
		c := f.newTree(child, skip)
		n.children = append(n.children, c)
		n.leaves = append(n.leaves, c.leaves...)
	}
	n.skip = len(n.leaves) == 0
	n.annotate(col)
	return n
}

// annotate turns a group that represents a list or a map into one.
func (n *node) annotate(col *pq.Column) {
	if len(n.children) != 1 || !n.children[0].repeated || n.repeated {
		return
	}
	inner := n.children[0]
	switch annotation(col).(type) {
	case *format.ListType:
		n.kind = listNode
		// Lists of three levels wrap each element in a group of one column.
		name := col.Columns()[0].Name()
		if inner.kind == groupNode && len(inner.children) == 1 && name != "array" && name != col.Name()+"_tuple" {
			inner.kind = listNode
		}
	case *format.MapType:
		if len(inner.children) == 2 && col.Columns()[0].Columns()[0].Type().Kind() == pq.ByteArray && inner.children[0].kind == leafNode {
			n.kind = mapNode
		} else {
			n.kind = listNode
		}
	}
}

// pathOf returns the name of a column for messages: "meta.id".
func pathOf(col *pq.Column) string { return strings.Join(col.Path(), ".") }

// roles are the columns that fill a document. A missing one is nil.
type roles struct {
	id, fp   *pq.Column
	texts    []textRole // joined as lines, or as fields
	weighted bool       // they are records.Options.Fields
	set      bool       // the only text is the column of records.Options.SetField
	option   string     // selects the texts, as messages name it
}

// textRole is a column with texts.
type textRole struct {
	col  *pq.Column
	path jsonfield.Path // of the texts, within the JSON of a column that is a list, a map or itself JSON
	json bool           // the column is such a one
	node *node          // the column within the root, if its values are made into JSON
}

// text returns the column of the text, if a text is the value of one column, else nil.
func (r roles) text() *pq.Column {
	if len(r.texts) != 1 || r.texts[0].json || r.set || r.weighted {
		return nil
	}
	return r.texts[0].col
}

// newRoles finds the columns that the options name.
func newRoles(root *pq.Column, opt records.Options) (r roles, err error) {
	r.option = opt.TextOption()
	if opt.IDFrom == records.IDFromField {
		if r.id, err = role(root, opt.IDField, "id", opt.Call("IDField"), "an id is a string, a whole number or a UUID", isID); err != nil {
			return r, err
		}
	}
	if err := r.findText(root, opt); err != nil {
		return r, err
	}
	r.fp, err = role(root, opt.FingerprintField, "fingerprint", "FingerprintField", "a fingerprint is a whole number or a string", isFingerprint)
	switch {
	case err != nil:
		return r, err
	case r.id == nil && !opt.MakeID:
		return r, fmt.Errorf("%w, %s makes ids", missing(root, "id", opt.Call("IDField")), option.Set("IDFrom", records.IDFromLine))
	case r.fp == nil && opt.Fingerprints != base.Auto:
		return r, fmt.Errorf("%s: %w", option.Set("Fingerprints", opt.Fingerprints), missing(root, "fingerprint", "FingerprintField"))
	case r.fp != nil && !isText(r.fp) && opt.Fingerprints != base.Auto && opt.Fingerprints != base.Decimal:
		return r, fmt.Errorf("%s: the column %q has numbers, not texts", option.Set("Fingerprints", opt.Fingerprints), pathOf(r.fp))
	case r.texts == nil && r.fp == nil && !opt.NoText:
		return r, fmt.Errorf("%w, %s one with fingerprints", missing(root, "text", r.option), option.Name("FingerprintField"))
	}
	return r, nil
}

func (r *roles) findText(root *pq.Column, opt records.Options) error {
	names := opt.TextFields()
	switch r.weighted, r.set = opt.Fields != nil, opt.SetField != ""; {
	case r.weighted:
	case r.set:
		col, path := descend(root, jsonfield.Parse(opt.SetField), same)
		if path.Arrived() || col == nil {
			col, path = find(root, opt.SetField), jsonfield.Path{}
		}
		if col != nil {
			r.texts = []textRole{{col: col, path: path}}
			return nil
		}
		return missing(root, opt.SetField, r.option)
	case find(root, opt.TextField) != nil:
		names = []string{opt.TextField}
	}
	for _, name := range names {
		if col, path := descend(root, jsonfield.Parse(name), same); col != nil && (isList(col) || col.Repeated() || !path.Arrived()) {
			r.texts = append(r.texts, textRole{col: col, path: path, json: true})
			continue
		}
		if !r.weighted && opt.TextField == "" {
			name = "" // the column text may be missing
		}
		col, err := role(root, name, "text", r.option, "a text is a string or a number", hasText)
		if err != nil {
			return err
		}
		if col != nil {
			r.texts = append(r.texts, textRole{col: col})
		}
	}
	return nil
}

// role returns the column that want names or, if want is empty, the one called name. It returns nil
// if the user named none and there is none called name.
func role(root *pq.Column, want, name, field, rule string, fits func(*pq.Column) bool) (*pq.Column, error) {
	col := find(root, want)
	if want == "" {
		col = find(root, name)
	}
	switch {
	case col == nil && want == "":
		return nil, nil
	case col == nil:
		return nil, missing(root, want, field)
	case col.MaxRepetitionLevel() > 0 || isList(col):
		return nil, fmt.Errorf("the column %q is a list: %s; %s names another column", pathOf(col), rule, option.Name(field))
	case !col.Leaf():
		return nil, fmt.Errorf("the column %q has columns in it%s: %s; %s names one", pathOf(col), records.Among("there are", paths(col), want), rule, option.Name(field))
	case !fits(col):
		return nil, fmt.Errorf("the column %q is of type %s: %s; %s names another column", pathOf(col), col.Type(), rule, option.Name(field))
	}
	return col, nil
}

func missing(root *pq.Column, want, field string) error {
	return fmt.Errorf("there is no column %q%s; %s names another", want, records.Among("there are", paths(root), want), option.Name(field))
}

// isList reports whether a group is a list or a map.
func isList(col *pq.Column) bool {
	return !col.Leaf() && (is[*format.ListType](col) || is[*format.MapType](col))
}

// elementOf returns the element of a column that is a list of objects, or nil for other columns.
func elementOf(col *pq.Column) *pq.Column {
	if col.Leaf() || !is[*format.ListType](col) || len(col.Columns()) != 1 {
		return nil
	}
	inner := col.Columns()[0]
	if len(inner.Columns()) == 1 && !inner.Columns()[0].Leaf() {
		inner = inner.Columns()[0]
	}
	if len(inner.Columns()) < 2 {
		return nil
	}
	return inner
}

// find returns the column with this name or path, else one with this name or path ignoring case,
// else the one with this number, counted from 1. It returns nil if there is none.
func find(root *pq.Column, name string) *pq.Column {
	if name == "" {
		return nil
	}
	for _, equal := range []func(a, b string) bool{same, strings.EqualFold} {
		if col, rest := descend(root, jsonfield.Parse(name), equal); col != nil && rest.Arrived() {
			return col
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(root.Columns()) {
		return root.Columns()[n-1]
	}
	return nil
}

func same(a, b string) bool { return a == b }

// descend returns the column to which a path leads below col. It stops at lists, maps and columns of
// JSON, and where * is next, and returns the rest of the path within them.
func descend(col *pq.Column, path jsonfield.Path, equal func(a, b string) bool) (*pq.Column, jsonfield.Path) {
	if path.Arrived() || col.Repeated() || isList(col) || isJSON(col) {
		return col, path
	}
	for key, rest := range path.Next() {
		for _, c := range col.Columns() {
			if equal(c.Name(), key) {
				if found, rest := descend(c, rest, equal); found != nil {
					return found, rest
				}
			}
		}
	}
	if path.Begins(jsonfield.Any) && !col.Leaf() {
		return col, path
	}
	return nil, path
}

// paths returns the names of the columns below col that have values. For those in lists of texts or
// of objects, it returns paths.
func paths(col *pq.Column) (names []string) {
	for _, c := range col.Columns() {
		if element := elementOf(c); element != nil {
			for _, name := range paths(element) {
				names = append(names, pathOf(c)+"[]"+strings.TrimPrefix(name, pathOf(element)))
			}
			continue
		}
		if c.Leaf() || isList(c) {
			names = append(names, pathOf(c))
		} else {
			names = append(names, paths(c)...)
		}
	}
	return names
}

// annotation returns the logical type of a column, nil if it has none.
func annotation(col *pq.Column) any {
	if lt := col.Type().LogicalType(); lt != nil {
		return lt.Value
	}
	return nil
}

// is reports whether a column has the logical type T.
func is[T any](col *pq.Column) bool {
	_, is := annotation(col).(T)
	return is
}

// isText reports whether values of a column are strings.
func isText(col *pq.Column) bool {
	switch annotation(col).(type) {
	case *format.StringType, *format.EnumType, *format.JsonType, nil:
		return col.Type().Kind() == pq.ByteArray
	}
	return false
}

// isJSON reports whether values of a column are JSON.
func isJSON(col *pq.Column) bool { return col.Leaf() && is[*format.JsonType](col) }

// isWhole reports whether values of a column are whole numbers.
func isWhole(col *pq.Column) bool {
	switch annotation(col).(type) {
	case *format.IntType, *format.NullType, nil:
		return col.Type().Kind() == pq.Int32 || col.Type().Kind() == pq.Int64
	}
	return false
}

// hasText reports whether values of a column can be a text: strings, or values that JSON writes
// verbatim.
func hasText(col *pq.Column) bool {
	return isText(col) || isWhole(col) || isFloat(col) || is[*format.DecimalType](col) || col.Type().Kind() == pq.Boolean
}

// isFloat reports whether values of a column are floating-point numbers.
func isFloat(col *pq.Column) bool {
	kind := col.Type().Kind()
	return kind == pq.Float || kind == pq.Double
}

// isUnsigned reports whether the numbers of a column are unsigned.
func isUnsigned(col *pq.Column) bool {
	t, is := annotation(col).(*format.IntType)
	return is && !t.IsSigned
}

func isID(col *pq.Column) bool {
	return hasText(col) && col.Type().Kind() != pq.Boolean || is[*format.UUIDType](col)
}

func isFingerprint(col *pq.Column) bool { return isText(col) || isWhole(col) || isBytes(col) }

// isBytes reports whether values of a column are bytes of the length of a fingerprint.
func isBytes(col *pq.Column) bool {
	return col.Type().Kind() == pq.FixedLenByteArray && isBits(8*col.Type().Length(), col)
}

// isBits reports whether a column has no logical type, and n bits are the length of a fingerprint.
func isBits(n int, col *pq.Column) bool {
	return n > 0 && n%base.FingerprintBits == 0 && n <= base.FingerprintBits*base.MaxWords && col.Type().LogicalType() == nil
}

// shapeOf returns the names and types of the columns of a file, and which ones are optional, for
// comparison. Names of the root differ between writers and are ignored.
func shapeOf(col *pq.Column) []byte {
	var b []byte
	for _, c := range col.Columns() {
		switch {
		case c.Optional():
			b = append(b, "optional "...)
		case c.Repeated():
			b = append(b, "repeated "...)
		}
		b = append(b, c.Type().String()...)
		b = append(b, ' ')
		b = strconv.AppendQuote(b, c.Name())
		if !c.Leaf() {
			b = append(b, '{')
			b = append(b, shapeOf(c)...)
			b = append(b, '}')
		}
		b = append(b, ';')
	}
	return b
}
