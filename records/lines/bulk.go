package lines

import (
	"bytes"
	"errors"
	"regexp"
)

// Bulk files of Elasticsearch and OpenSearch are JSON lines in which a line with an action precedes
// each document. Both are one record, with the ID of the action:
//
//	{"index": {"_id": "a"}}
//	{"text": "..."}
//	{"delete": {"_id": "b"}}     a record without a document

// action matches a line with an action; a deletion has no document.
var action = regexp.MustCompile(`^\s*\{\s*"(index|create|update|(delete))"\s*:\s*\{[^{}]*\}\s*\}\s*$`)

// isBulk reports whether the first lines of a file are an action and a document, or two actions.
func isBulk(lines [][]byte) bool {
	if len(lines) < 2 {
		return false
	}
	m := action.FindSubmatch(lines[0])
	return m != nil && (m[2] != nil) == action.Match(lines[1]) && isObject(lines[1])
}

// bulkGrouping is the grouping of a bulk file.
var bulkGrouping = grouping{none: errors.New("no line has an action"), rule: func() rule {
	awaited := false // a document
	return func(line []byte) bool {
		if awaited || len(bytes.TrimSpace(line)) == 0 {
			awaited = awaited && len(bytes.TrimSpace(line)) == 0
			return false
		}
		m := action.FindSubmatch(line)
		awaited = m != nil && m[2] == nil
		return true
	}
}}

// parseBulk parses an action and its document.
func (o *object) parseBulk(raw []byte, rec *record) string {
	line, document, _ := bytes.Cut(raw, newline)
	one := *o
	one.bulk = false
	if !action.Match(line) {
		return one.parse(raw, rec)
	}
	var id found
	Members(trim(line), func(key string, _, value []byte) { id.take(key+"._id", key, value) })
	hasID := id.value != nil && id.value[0] != 'n' && o.id == "id"
	one.makeID = one.makeID || hasID
	if len(bytes.TrimSpace(document)) == 0 {
		rec.Flaw = "an action without a document"
	} else if reason := one.parse(document, rec); reason != "" {
		return reason
	}
	if hasID {
		rec.Doc.ID = string(id.value)
		if id.value[0] == '"' {
			rec.Doc.ID = rec.unquote(id.value)
		}
	}
	return rec.checkID(true)
}
