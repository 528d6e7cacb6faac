package jsonfield

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/simdb/simdb/internal/jsontext"
)

// Of returns the value at a path of a JSON object: the value of the key path[0], within it that of
// path[1], and so on. If a key occurs several times, the last one wins. Of returns nil if the value
// is missing or null. object must be empty or valid JSON; for other input, Of may return any part.
//
// Skipped values are not decoded, so Of needs about a nanosecond per byte.
func Of(object []byte, path []string) json.RawMessage {
	for _, key := range path {
		if object = member(object, key); object == nil {
			return nil
		}
	}
	if string(object) == "null" {
		return nil
	}
	return object
}

// member returns the value of the last member of an object with this key, or nil if there is none.
func member(object []byte, key string) (value []byte) {
	for quoted, v := range Members(object) {
		if equalString(quoted, key) {
			value = v
		}
	}
	return value
}

// Members yields the members of a JSON object, with the same requirements as in Of: each key with
// its quotes, and the value. It yields nothing if object is not an object.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		at := jsontext.SkipBlank(object, 0)
		if at >= len(object) || object[at] != '{' {
			return
		}
		for at = jsontext.SkipBlank(object, at+1); at < len(object) && object[at] == '"'; at = jsontext.SkipBlank(object, at+1) {
			key := object[at:jsontext.SkipString(object, at)]
			start := jsontext.SkipBlank(object, jsontext.SkipBlank(object, at+len(key))+1) // after the colon
			end := jsontext.SkipValue(object, start)
			if start < end && !yield(key, object[start:end]) {
				return
			}
			at = jsontext.SkipBlank(object, end) // the comma, or the closing bracket
		}
	}
}

// ElementsOf yields the elements of a JSON list.
func ElementsOf(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := jsontext.SkipBlank(list, 1); at < len(list) && list[at] != ']'; at = jsontext.SkipBlank(list, at+1) {
			end := jsontext.SkipValue(list, at)
			if end == at || !yield(list[at:end]) {
				return
			}
			at = jsontext.SkipBlank(list, end) // the comma, or the closing bracket
		}
	}
}

// equalString reports whether a JSON string, with its quotes, is s.
func equalString(quoted []byte, s string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return len(quoted) == len(s)+2 && string(quoted[1:len(quoted)-1]) == s
	}
	return Text(quoted) == s
}

// Text returns a JSON value as text: a string without quotes and escapes, any other value as
// written.
func Text(value json.RawMessage) string { return string(Value(value)) }

// Unquoted decodes a JSON string, given with its quotes. The result may alias value.
func Unquoted(value json.RawMessage) []byte {
	if len(value) < 2 {
		return nil
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return inner
	}
	return []byte(s)
}
