package output

import (
	"strings"
	"testing"
)

// unsigned is a number that is no fingerprint, as query.Sequence.
type unsigned uint64

func (u unsigned) Unsigned() uint64 { return uint64(u) }

// TestOfStatement writes the values of a statement's row: a uint64 is a fingerprint, a value that
// says it is unsigned a number.
func TestOfStatement(t *testing.T) {
	for format, want := range map[Format]string{
		TSV:   "seq\t00000000000000ff\t9223372036854775813\t-1\n",
		JSONL: `{"a":"seq","b":"00000000000000ff","c":9223372036854775813,"d":-1}` + "\n",
	} {
		row := OfStatement([]any{"seq", uint64(255), unsigned(1<<63 + 5), int64(-1)})
		if got := write(t, Options{Format: format}, strings.Split("abcd", ""), row); got != want {
			t.Errorf("written as %q, want %q", got, want)
		}
	}
}
