package features

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
)

// Members calls f for each member of the set in text, in order and with repetitions. If text is a
// JSON array, its elements are the members: strings are decoded, other values are used as written,
// so 1 and "1" are equal. In any other text, members are separated by white space. Empty members
// are skipped. f must not retain the slice.
func Members(text []byte, f func(member []byte)) {
	s := bytes.TrimSpace(text)
	if len(s) > 0 && s[0] == '[' {
		var elements []json.RawMessage
		if json.Unmarshal(s, &elements) == nil {
			for _, e := range elements {
				if m := jsonfield.Value(e); len(m) > 0 {
					f(m)
				}
			}
			return
		}
	}
	for m := range bytes.FieldsSeq(s) {
		f(m)
	}
}

// SetText returns the text of a document with these set members.
func SetText(members ...string) string {
	if members == nil {
		members = []string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(members) // encoding strings cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// JoinFields returns the text of a document whose fields have these texts, in the order of
// Spec.Fields. A Separator within a text is replaced by a space.
func JoinFields(texts ...string) string {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 {
			b.WriteByte(Separator)
		}
		if strings.IndexByte(t, Separator) >= 0 {
			t = strings.ReplaceAll(t, string(rune(Separator)), " ")
		}
		b.WriteString(t)
	}
	return b.String()
}

// Separator separates the texts of fields in the text of a document.
const Separator = '\x1f'
