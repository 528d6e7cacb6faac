package lines

import (
	"bytes"
	"errors"

	"github.com/simdb/simdb/internal/jsonfield"
)

// Bulk files of Elasticsearch and OpenSearch are JSON lines with an action before each document.
// Both are one record, with the ID of the action. A deletion is a record without a document.
//
//	{"index": {"_id": "a"}}
//	{"text": "..."}
//	{"delete": {"_id": "b"}}

// action matches a line with an action; its second group matches a deletion.
var action = re(`^\s*\{\s*"(index|create|update|(delete))"\s*:\s*\{[^{}]*\}\s*\}\s*$`)

// isBulk reports whether the first lines of a file are an action and a document, or two actions.
func isBulk(lines [][]byte) bool {
	if len(lines) < 2 || !isObject(lines[1]) {
		return false
	}
	m := action.FindSubmatch(lines[0])
	return m != nil && (m[2] != nil) == action.Match(lines[1])
}

// bulkGrouping is the grouping of a bulk file.
var bulkGrouping = grouping{none: errors.New("no line has an action"), rule: func() rule {
	awaited := false // a document
	return func(line []byte) bool {
		if len(bytes.TrimSpace(line)) == 0 {
			return false
		}
		m := action.FindSubmatch(line)
		begins := !awaited
		awaited = begins && m != nil && m[2] == nil
		return begins
	}
}}

// parseBulk parses an action and its document.
func (o *object) parseBulk(raw []byte, rec *record) (reason string) {
	line, document, _ := bytes.Cut(raw, newline)
	one := *o
	var id []byte
	one.bulk = false
	m := action.FindSubmatch(line)
	if m == nil {
		return one.parse(raw, rec)
	}
	if o.id.Is("id") {
		id = jsonfield.Of(trim(line), []string{string(m[1]), "_id"})
	}
	one.makeID = one.makeID || id != nil
	if len(bytes.TrimSpace(document)) == 0 {
		rec.Flaw = "an action without a document"
	} else if reason = one.parse(document, rec); reason != "" {
		return reason
	}
	if id != nil {
		return one.setID(rec, line, id)
	}
	return rec.checkID(one.makeID)
}
