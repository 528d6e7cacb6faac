package jsontext

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// Valid agrees with encoding/json on texts that are JSON except for a few bytes.
func TestValid(t *testing.T) {
	const parts = "{}[],:\"\\\\ \t\n\r0123456789-+.eEtruefalsn u00e9\xff\x00\x1f/b"
	seeds := []string{
		`{"a":[1,-0.5e+3,"x\u00e9\n",{"b":null}],"c":true,"":false}`, ` [ ] `, `{}`, `"\ud800"`, "\"\xff\"", `-0`, `0.1e1`, `[[[]],{"a":{}}]`,
		"", " ", "01", "-", "1.", "1e", ".5", "+1", "nul", "truex", `"`, `{"a"}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{a:1}`, "1 2", "\"\x01\"", `"\x"`, `"\u12"`, "}", "]", `{"a":1]`, "[}",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	}
	r, accepted := rand.New(rand.NewPCG(1, 2)), 0
	for _, seed := range seeds {
		for n := range 3000 {
			s := []byte(seed)
			for range min(n, 1+n%3) {
				at := r.IntN(len(s) + 1)
				switch c := parts[r.IntN(len(parts))]; {
				case n%2 == 0 && at < len(s):
					s[at] = c
				case n%5 == 0 && at < len(s):
					s = append(s[:at], s[at+1:]...)
				default:
					s = append(s[:at], append([]byte{c}, s[at:]...)...)
				}
			}
			got := Valid(s)
			if want := json.Valid(s); got != want {
				t.Fatalf("%.200q: %v, want %v", s, got, want)
			}
			if got {
				accepted++
			}
			if len(s) > 1000 && n > 20 {
				break
			}
		}
	}
	if accepted < 5000 {
		t.Errorf("%d texts were JSON", accepted)
	}
}
