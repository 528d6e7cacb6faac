package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/simdb/simdb/records"
)

// CanExtend implements records.Extender.
func (f *file) CanExtend(columns []records.Column) error {
	switch f.info.Format {
	case JSONL, JSON:
		if f.group != nil {
			return fmt.Errorf("%s is %s, to which no columns can be added", f.info.Name, f.info.Shape)
		}
		if f.members {
			return fmt.Errorf("the records of %s are members of an object: no columns can be added", f.info.Name)
		}
		return nil
	case CSV, TSV:
		return records.Clash(f.info.Name, columns, f.cells(nil, f.info.Columns))
	}
	return records.NotExtended(f)
}

// extend returns a record of src with additional columns.
func extend(src records.Source, raw []byte, columns []records.Column, values []any) ([]byte, error) {
	if format := src.Info().Format; format == JSONL || format == JSON {
		return extendObject(raw, columns, values)
	}
	return src.(*file).extendRow(raw, values), nil
}

// extendHeader returns the header of a file of columns with additional columns.
func extendHeader(src records.Source, columns []records.Column) []byte {
	f, ok := src.(*file)
	if !ok || f.info.Columns == nil {
		return nil
	}
	var names []any
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return f.extendRow(f.info.Columns, names)
}

// extendRow appends cells to a row.
func (f *file) extendRow(raw []byte, values []any) []byte {
	line := trimEOL(raw)
	out := append([]byte(nil), line...)
	for _, v := range values {
		out = append(out, f.separator())
		switch v := v.(type) {
		case int64:
			out = strconv.AppendInt(out, v, 10)
		case float64:
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		case string:
			out = append(out, f.cell(v)...)
		}
	}
	return append(out, raw[len(line):]...)
}

// cell encodes a text as a cell. TSV cannot represent tabs and line ends; they become blanks.
func (f *file) cell(s string) string {
	if f.info.Format == TSV {
		return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
	}
	if s == "" || strings.ContainsAny(s, "\"\r\n") || strings.IndexByte(s, f.separator()) >= 0 {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// extendObject appends members to a JSON object. It returns an error if one already exists.
func extendObject(raw []byte, columns []records.Column, values []any) ([]byte, error) {
	object := bytes.TrimRight(raw, blank)
	if len(object) == 0 || object[len(object)-1] != '}' {
		return nil, fmt.Errorf("%.40q is not an object", raw)
	}
	for _, c := range columns {
		if !bytes.Contains(object, []byte(`"`+c.Name+`"`)) {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) == nil && members[c.Name] != nil {
			return nil, fmt.Errorf("a record has a field %q already", c.Name)
		}
	}
	out := append([]byte(nil), bytes.TrimRight(object[:len(object)-1], blank)...)
	for i, c := range columns {
		if i > 0 || out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(records.AppendString(out, c.Name), ':')
		switch v := values[i].(type) {
		case int64:
			out = strconv.AppendInt(out, v, 10)
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%v is not JSON", v)
			}
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		case string:
			out = records.AppendString(out, v)
		default:
			out = append(out, "null"...)
		}
	}
	return append(append(out, '}'), raw[len(object):]...), nil
}
