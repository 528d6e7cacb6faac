package features

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/jsontext"
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

// Pairs calls f for each feature in text, with its weight, in order and with repetitions. If text
// is a JSON object, its keys are the features, and its values are their weights; a feature of weight
// 0, or null, is not in the text. In any other text the features are its Members, with weight 1. It
// returns an error that names the feature if a weight is not one. f must not retain the slice.
func Pairs(text []byte, f func(feature []byte, weight float64)) error {
	s := bytes.TrimSpace(text)
	switch {
	case len(s) == 0 || s[0] != '{':
		Members(s, func(member []byte) { f(member, 1) })
		return nil
	case !jsontext.Valid(s):
		return errors.New("the features are neither a JSON object nor a list")
	}
	for quoted, value := range jsonfield.Members(s) {
		feature, weight := jsontext.Unquote(quoted), 0.0
		if json.Unmarshal(value, &weight) != nil || weight != 0 && CheckWeight(weight) != nil {
			return fmt.Errorf("the feature %q has weight %s: want 0, or a number from 0.000001 to %d; only the ratios of weights matter", feature, value, MaxWeight)
		}
		if weight > 0 {
			f([]byte(feature), weight)
		}
	}
	return nil
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
