package lines

import (
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/jsontext"
)

// TestCheckedMembers changes bytes of JSON objects. It compares which ones are accepted with
// encoding/json and with members, and decoded strings with encoding/json.
func TestCheckedMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	seeds := []string{
		`{}`, ` `, `{"id":"a","text":"x"}`, `{ "id" : 17 , "text":"a line\nand\tanother \"one\" \\ \/ \b\f\r", "z":null}`,
		`{"id":1e-400,"text":"\ud83d\ude00\u00e9\uD800\ud800\u0041\udc00 twice \ud800\n","meta":{"a":[1,{"b":"]}"}],"c":true}}`,
		`{"text":"0123456789abcdefé中文 0123456789abcdef","n":[false,-0.5E+7],"\u0069d":3}`, `{"a":{}}`, `{"a":1,"a":"2"}`,
	}
	alphabet := []byte(`"\{}[]:,u0dDc8eE+-.tn /x` + "\x00\x1f\n\xff")
	list := func(members func(f func(key string, member, value []byte))) (all []string) {
		members(func(key string, member, value []byte) { all = append(all, key, string(member), string(value)) })
		return all
	}
	accepted := 0
	for round := range 60_000 {
		s := []byte(seeds[round%len(seeds)])
		for range r.IntN(4) {
			switch i := r.IntN(len(s) + 1); {
			case r.IntN(2) == 0:
				s = slices.Insert(s, i, alphabet[r.IntN(len(alphabet))])
			case i < len(s):
				s = slices.Delete(s, i, i+1)
			}
		}
		if !utf8.Valid(s) {
			continue
		}
		ok := false
		got := list(func(f func(string, []byte, []byte)) { ok = checkedMembers(s, f) })
		var object map[string]stdjson.RawMessage
		if valid := stdjson.Unmarshal(s, &object) == nil && object != nil && s[0] == '{'; !ok {
			escaped := false
			if valid {
				Members(s, func(_ string, member, _ []byte) { _, e := jsontext.CheckString(member, 0); escaped = escaped || e })
			}
			if valid && !escaped && s[len(s)-1] == '}' {
				t.Fatalf("%q refused", s)
			}
			continue
		} else if !valid {
			t.Fatalf("%q accepted", s)
		}
		accepted++
		if want := list(func(f func(string, []byte, []byte)) { Members(s, f) }); !slices.Equal(got, want) {
			t.Fatalf("%q: members %q, want %q", s, got, want)
		}
		for i := 2; i < len(got); i += 3 {
			var want string
			if got[i][0] == '"' && stdjson.Unmarshal([]byte(got[i]), &want) == nil && jsontext.Unquote([]byte(got[i])) != want {
				t.Fatalf("%s is %q, want %q", got[i], jsontext.Unquote([]byte(got[i])), want)
			}
		}
	}
	if accepted < 10_000 {
		t.Fatalf("only %d accepted", accepted)
	}
}

// TestPlainEnd puts each byte at each position.
func TestPlainEnd(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			s := []byte(fmt.Sprintf("%s%c%s", "!#]~\x7f\xff\x80\xa2\xdcaaaaaaaaaaaa"[:at], 'x', "\x21\x5d\"\"\"\\\\\\\n\n"))
			s[at] = byte(c)
			want := at
			for s[want] >= ' ' && s[want] != '"' && s[want] != '\\' {
				want++
			}
			if got := jsontext.PlainEnd(s, 0); got != want {
				t.Fatalf("%q: %d, want %d", s, got, want)
			}
		}
	}
}
