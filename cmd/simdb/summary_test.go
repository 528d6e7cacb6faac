package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// --summary json ends standard error with an object of the counts, even of a quiet run.
func TestSummaryJSON(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	lines := `{"id":"a","text":"one two three four"}` + "\n" + `{"id":"b","text":"one two three four"}` + "\n" + `{"id":"c","text":"five six seven"}` + "\nbroken\n"
	write(t, in, lines)
	seconds := 0.0
	for _, c := range []struct{ args, want string }{
		{"dedup IN -o DIR/kept.jsonl --max-errors 1 -q", `{"read":3,"clusters":1,"dropped":1,"kept":2,"rejected":1,`},
		{"load DIR/x.simdb IN --max-errors 1", `{"loaded":3,"rejected":1,"replaced":0,"expired":0,"skipped":0,"not_replacing":0,"empty":0,"bad_utf_8":0,`},
		{"match DIR/x.simdb IN -o DIR/new.jsonl --max-errors 1", `{"read":3,"new":0,"replaced":0,"expired":0,"rejected":1,`},
	} {
		args := strings.Fields(strings.NewReplacer("IN", in, "DIR", dir).Replace(c.args))
		_, _, talk := simdbHere(t, append(args, "--summary", "json")...)
		found := 0
		for line := range strings.Lines(talk) {
			var o map[string]float64
			if json.Unmarshal([]byte(line), &o) != nil || !strings.HasPrefix(line, c.want) {
				continue
			}
			if s, ok := o["seconds"]; ok { // 0.000 is less than half a millisecond
				seconds += s
				found++
			}
		}
		if found != 1 || strings.Contains(talk, "clusters   ") {
			t.Errorf("%s: %s", c.args, talk)
		}
	}
	if seconds == 0 {
		t.Error("all of it took no time")
	}
}
