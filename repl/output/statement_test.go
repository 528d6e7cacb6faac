package output

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNumbers writes the numbers of a statement's row: a uint64 is a fingerprint.
func TestNumbers(t *testing.T) {
	for format, want := range map[Format]string{
		TSV:   "seq\t00000000000000ff\t9223372036854775813\t-1\n",
		JSONL: `{"a":"seq","b":"00000000000000ff","c":9223372036854775813,"d":-1}` + "\n",
	} {
		row := []any{"seq", uint64(255), json.RawMessage("9223372036854775813"), int64(-1)}
		if got := write(t, Options{Format: format}, strings.Split("abcd", ""), row); got != want {
			t.Errorf("written as %q, want %q", got, want)
		}
	}
}
