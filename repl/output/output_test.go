package output

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/printable"
)

var (
	docColumns = []string{"id", "text", "fields", "fingerprint", "time"}
	docTime    = time.Date(2026, 1, 2, 3, 4, 5, 670000000, time.FixedZone("", 3600))
)

func write(t *testing.T, o Options, columns []string, rows ...[]any) string {
	t.Helper()
	var b bytes.Buffer
	w := New(&b, columns, &o)
	for _, r := range rows {
		must.Do(t, w.Row(r...))
	}
	for range 2 { // Close is idempotent
		must.Do(t, w.Close())
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	doc := []any{"a\tb", "two\nlines, \"quoted\" \\", json.RawMessage("{\n \"x\": 1 }"), uint64(0xff), docTime}
	empty := []any{"e", "", json.RawMessage(nil), nil, time.Time{}}
	near := [][]any{{"a", 0}, {"b,c", 12}}
	pair := []any{"a", "b\n", 0.1}
	tests := []struct {
		name    string
		o       Options
		columns []string
		rows    [][]any
		want    string
	}{
		{"tsv", Options{Format: TSV}, docColumns, [][]any{doc, empty},
			`a\tb	two\nlines, "quoted" \\	{"x":1}	00000000000000ff	2026-01-02T02:04:05.67Z` + "\ne\t\t\t\t\n"},
		{"tsv on a terminal", Options{Format: TSV, Terminal: true}, []string{"id", "distance"}, near, "id\tdistance\na\t0\nb,c\t12\n"},
		{"tsv with a header", Options{Format: TSV, Header: true}, []string{"id", "distance"}, near, "id\tdistance\na\t0\nb,c\t12\n"},
		{"csv", Options{Format: CSV}, []string{"id", "distance"}, near, "id,distance\na,0\n\"b,c\",12\n"},
		{"csv without rows", Options{Format: CSV}, []string{"id", "distance"}, nil, "id,distance\n"},
		{"jsonl", Options{Format: JSONL}, docColumns, [][]any{doc, empty},
			`{"id":"a\tb","text":"two\nlines, \"quoted\" \\","fields":{"x":1},"fingerprint":"00000000000000ff","time":"2026-01-02T02:04:05.67Z"}` +
				"\n" + `{"id":"e","text":"","fields":null,"fingerprint":null,"time":null}` + "\n"},
		{"json", Options{Format: JSON}, []string{"id", "distance"}, near, "[{\"id\":\"a\",\"distance\":0},\n{\"id\":\"b,c\",\"distance\":12}]\n"},
		{"json without rows", Options{Format: JSON}, []string{"id"}, nil, "[]\n"},
		{"ids", Options{Format: IDs}, []string{"distance", "id"}, [][]any{{0, "a"}, {1, "b"}}, "a\nb\n"},
		{"ids of pairs", Options{Format: IDs}, []string{"a", "b", "score"}, [][]any{pair}, "a\tb\\n\n"},
		{"count", Options{Format: Count}, []string{"id", "distance"}, near, "2\n"},
		{"count of clusters", Options{Format: Count}, []string{"cluster", "id"}, [][]any{{1, "a"}, {1, "b"}, {2, "c"}, {2, "d"}, {2, "e"}}, "2\n"},
		{"count of no clusters", Options{Format: Count}, []string{"cluster", "id"}, nil, "0\n"},
		{"count of COUNT", Options{Format: Count}, []string{"count"}, [][]any{{int64(7)}}, "7\n"},
		{"floats", Options{Format: TSV}, []string{"a", "b", "score"}, [][]any{pair, {"a", "b", 1.0}}, "a\tb\\n\t0.1\na\tb\t1\n"},
		{"table", Options{}, []string{"id", "score"}, [][]any{{"a", 0.81236}, {"\x1b[31mred", 1.0}}, strings.Join([]string{
			"┌─────────────┬────────┐",
			"│ id          │  score │",
			"├─────────────┼────────┤",
			"│ a           │ 0.8124 │",
			`│ \x1b[31mred │ 1.0000 │`,
			"└─────────────┴────────┘\n"}, "\n")},
		{"table of more than MaxRows", Options{MaxRows: 1}, []string{"id"}, [][]any{{"a"}, {"b"}, {"c"}},
			"┌────┐\n│ id │\n├────┤\n│ a  │\n└────┘\n… and 2 more\n"},
		{"table without rows", Options{}, []string{"id"}, nil, "┌────┐\n│ id │\n├────┤\n└────┘\n"},
		{"narrow table of documents", Options{Width: 76}, []string{"id", "text", "fingerprint", "time"},
			[][]any{{"a", strings.Repeat("word ", 50), uint64(255), docTime}, {"b", "", uint64(0), docTime}}, strings.Join([]string{
				"┌────┬───────────────────────────┬──────────────────┬──────────────────────┐",
				"│ id │ text                      │ fingerprint      │ time                 │",
				"├────┼───────────────────────────┼──────────────────┼──────────────────────┤",
				"│ a  │ word word word word word… │ 00000000000000ff │ 2026-01-02T02:04:05Z │",
				"│ b  │                           │ 0000000000000000 │ 2026-01-02T02:04:05Z │",
				"└────┴───────────────────────────┴──────────────────┴──────────────────────┘\n"}, "\n")},
		{"narrow table of long ids", Options{Width: 40}, []string{"id", "text", "time"},
			[][]any{{"AGPL-1.0-or-later", strings.Repeat("word ", 50), docTime}, {"AGPL-1.0-only", "", docTime}}, strings.Join([]string{
				"┌───────────────────┬──────────────────┐",
				"│ id                │ text             │",
				"├───────────────────┼──────────────────┤",
				"│ AGPL-1.0-or-later │ word word word … │",
				"│ AGPL-1.0-only     │                  │",
				"└───────────────────┴──────────────────┘",
				"… and time: the terminal is too narrow", "for them\n"}, "\n")},
		{"narrow table of one document", Options{Width: 50}, []string{"id", "text", "fingerprint", "time"},
			[][]any{{"a", strings.Repeat("word ", 50), uint64(255), docTime}}, strings.Join([]string{
				"┌─────────────┬──────────────────────────────────┐",
				"│ column      │ value                            │",
				"├─────────────┼──────────────────────────────────┤",
				"│ id          │ a                                │",
				"│ text        │ word word word word word word w… │",
				"│ fingerprint │ 00000000000000ff                 │",
				"│ time        │ 2026-01-02T02:04:05.67Z          │",
				"└─────────────┴──────────────────────────────────┘\n"}, "\n")},
		{"emoji of several characters", Options{}, []string{"id", "n"}, [][]any{{"👩‍👩‍👧‍👦", 1}, {"é🇩🇪", 2}}, strings.Join([]string{
			"┌─────┬───┐",
			"│ id  │ n │",
			"├─────┼───┤",
			"│ 👩‍👩‍👧‍👦  │ 1 │",
			"│ é🇩🇪 │ 2 │",
			"└─────┴───┘\n"}, "\n")},
		{"more columns than fit", Options{Width: 20}, []string{"id", "stars", "size", "count", "text"},
			[][]any{{"a", 1, 1234567, 7, "text"}, {"b", 22, 7654321, 5, "text"}}, strings.Join([]string{
				"┌──┬─────┬───────┐",
				"│id│stars│   size│",
				"├──┼─────┼───────┤",
				"│a │    1│1234567│",
				"│b │   22│7654321│",
				"└──┴─────┴───────┘",
				"… and count, text:",
				"the terminal is too",
				"narrow for them\n"}, "\n")},
		{"narrow table", Options{Width: 24}, []string{"id", "text"}, [][]any{{"a", "日本語のとても長いテキスト"}}, strings.Join([]string{
			"┌────┬─────────────────┐",
			"│ id │ text            │",
			"├────┼─────────────────┤",
			"│ a  │ 日本語のとても… │",
			"└────┴─────────────────┘\n"}, "\n")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := write(t, tc.o, tc.columns, tc.rows...)
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// A reader of each format must get an id back unchanged, whatever it contains.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab,\"'\\\t\n\r;\x00\x1b\x7f<&é漢\u2028👍🏽")
	for range 3000 {
		var ids []string
		for range rng.IntN(4) {
			var s []rune
			for range 1 + rng.IntN(8) {
				s = append(s, alphabet[rng.IntN(len(alphabet))])
			}
			ids = append(ids, string(s))
		}
		var rows [][]any
		for i, id := range ids {
			rows = append(rows, []any{id, i})
		}
		columns := []string{"id", "distance"}
		for _, f := range []Format{TSV, CSV, JSONL, JSON} {
			got := readBack(t, f, write(t, Options{Format: f}, columns, rows...))
			want := ids
			if f == CSV { // encoding/csv reads \r\n as \n, even in quotes
				want = nil
				for _, id := range ids {
					want = append(want, strings.ReplaceAll(id, "\r\n", "\n"))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v: wrote %q, read %q", f, want, got)
			}
		}
	}
}

func readBack(t *testing.T, f Format, s string) (ids []string) {
	t.Helper()
	switch f {
	case TSV:
		unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
		for line := range strings.Lines(s) {
			id, rest, _ := strings.Cut(line, "\t")
			if strings.Count(rest, "\t") != 0 {
				t.Fatalf("tab within a cell: %q", line)
			}
			ids = append(ids, unescape.Replace(id))
		}
	case CSV:
		rows := must.Get(csv.NewReader(strings.NewReader(s)).ReadAll())(t)
		for _, r := range rows[1:] {
			ids = append(ids, r[0])
		}
	case JSONL:
		for line := range strings.Lines(s) {
			var r struct{ ID string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			ids = append(ids, r.ID)
		}
	case JSON:
		var rows []struct{ ID string }
		if err := json.Unmarshal([]byte(s), &rows); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// A table never exceeds the width, unless its columns have their least width, and never contains a
// control character.
func TestTableWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []rune("abcdefgh 漢字\x1b\nñ👍\u202e")
	for range 500 {
		n := 1 + rng.IntN(4)
		width := 20 + rng.IntN(80)
		columns := []string{"id", "text", "fields", "fingerprint"}[:n]
		var rows [][]any
		for range rng.IntN(5) {
			row := make([]any, n)
			for i := range row {
				var s []rune
				for range rng.IntN(60) {
					s = append(s, alphabet[rng.IntN(len(alphabet))])
				}
				row[i] = string(s)
			}
			rows = append(rows, row)
		}
		got := write(t, Options{Width: width}, columns, rows...)
		least := n*(minCell+3) + 1
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if w := display.Width(line); w > max(width, least) {
				t.Fatalf("line of %d columns, width %d:\n%s", w, width, got)
			}
			if printable.Text(line) != line {
				t.Fatalf("unprintable: %q", line)
			}
		}
		lines := len(rows)
		if lines == 1 && (strings.Contains(got, "│ column") || strings.Contains(got, "│column")) {
			lines = n
		}
		if len(rows) > 0 && strings.Count(got, "\n") != lines+4 && !strings.Contains(got, "… and ") {
			t.Fatalf("%d lines for %d rows:\n%s", strings.Count(got, "\n"), len(rows), got)
		}
	}
}

// Numbers are never cut, at any width, and on 80 columns neither are the columns of a plan.
func TestNumbersAreWhole(t *testing.T) {
	columns := []string{"layout", "tables", "bytes", "method", "probes", "candidates", "us", "recommended"}
	rows := [][]any{
		{"2:1", 2, 11.57, "probes", 66, int64(565), 312.66, false},
		{"4x4", 16, 92.61, "probes", 52, int64(1_137_504), 142.57, true},
	}
	for width := range 120 {
		got := write(t, Options{Width: width + 1}, columns, rows...)
		for _, number := range []string{"312.6600", "142.5700", "11.5700", "1137504", "565", "false"} {
			if !strings.Contains(got, number) && width+1 >= 57 {
				t.Fatalf("%s is missing at %d columns:\n%s", number, width+1, got)
			}
		}
		if regexp.MustCompile(`\d…`).MatchString(got) {
			t.Fatalf("a number is cut at %d columns:\n%s", width+1, got)
		}
		for name, value := range map[string]string{"bytes": "11.5700", "probes": "66", "candidates": "565", "us": "312.6600"} {
			if !strings.Contains(got, value) && !strings.Contains(got, name) {
				t.Fatalf("%s is neither shown nor named at %d columns:\n%s", name, width+1, got)
			}
		}
		if width+1 >= 80 && strings.Contains(got, "…") {
			t.Fatalf("something is cut at %d columns:\n%s", width+1, got)
		}
		for line := range strings.Lines(got) {
			if w := display.Width(strings.TrimSuffix(line, "\n")); w > max(width+1, 57) {
				t.Fatalf("a line of %d columns at %d:\n%s", w, width+1, got)
			}
		}
	}
}

func TestColor(t *testing.T) {
	plain := write(t, Options{}, []string{"id"}, []any{"a"})
	color := write(t, Options{Color: true}, []string{"id"}, []any{"a"})
	if strings.Contains(plain, "\x1b") || !strings.Contains(color, "\x1b") {
		t.Errorf("plain %q, coloured %q", plain, color)
	}
}

// Flush must write the rows so far, whatever follows.
func TestStreams(t *testing.T) {
	for _, f := range []Format{TSV, CSV, JSONL, JSON, IDs} {
		var b bytes.Buffer
		w := New(&b, []string{"id"}, &Options{Format: f})
		must.Do(t, w.Row("first"))
		must.Do(t, w.Flush())
		if !strings.Contains(b.String(), "first") {
			t.Errorf("%v: %q after Flush", f, b.String())
		}
	}
}

func TestLongTableInPieces(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, []string{"id"}, &Options{})
	for range 2*tableChunk + 1 {
		must.Do(t, w.Row("x"))
	}
	must.Do(t, w.Close())
	if n := strings.Count(b.String(), "x"); n != 2*tableChunk+1 {
		t.Errorf("%d rows drawn", n)
	}
	if n := strings.Count(b.String(), "┌"); n != 3 {
		t.Errorf("%d tables", n)
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteError(t *testing.T) {
	w := New(brokenPipe{}, []string{"id"}, &Options{Format: TSV})
	var err error
	for i := 0; i < 100000 && err == nil; i++ {
		err = w.Row("some id")
	}
	if !errors.Is(err, errBroken) || !errors.Is(w.Close(), errBroken) {
		t.Errorf("the error of the underlying writer is lost: %v", err)
	}
	if err := New(&bytes.Buffer{}, []string{"id"}, &Options{}).Row("a", 1); err == nil {
		t.Error("a row with too many values was accepted")
	}
}

func TestParseFormat(t *testing.T) {
	for _, name := range Formats() {
		f, err := ParseFormat(strings.ToUpper(name))
		if err != nil || f.String() != name {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if _, err := ParseFormat("yaml"); err == nil {
		t.Error("yaml accepted")
	}
}

func FuzzQuoted(f *testing.F) {
	f.Add("a\"\\\x00\xff\u2028漢")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		must.Do(t, json.Unmarshal(display.AppendJSON(nil, s), &back))
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Errorf("%q became %q", s, back)
		}
	})
}

// hostile contains sequences that control a terminal: escapes, a title, an 8-bit control, and marks
// that change the direction of the text that follows.
const hostile = "a\x1b[31m\x1b]0;title\x07\u009b2J\u202eb\u200f\u061c\u2066c\ufff9"

// On a terminal, no format writes control sequences from data; elsewhere data is unchanged. Parquet
// is binary: the program never writes it to a terminal.
func TestTerminalIsNotDriven(t *testing.T) {
	for i, name := range Formats() {
		if name == "parquet" {
			continue
		}
		for _, terminal := range []bool{true, false} {
			for _, v := range []any{hostile, json.RawMessage("{\"k\":\"\u202ex\u009b2J\"}")} {
				var b strings.Builder
				w := New(&b, []string{"id"}, &Options{Format: Format(i), Terminal: terminal})
				must.Do(t, w.Row(v))
				must.Do(t, w.Close())
				drives := strings.ContainsAny(b.String(), "\x1b\x07\u009b\u202e\u200f\u061c\u2066\ufff9")
				raw := !terminal && (name == "tsv" || name == "csv" || name == "ids" || name == "groups")
				if drives != raw {
					t.Errorf("%s, terminal %v: %q", name, terminal, b.String())
				}
			}
		}
	}
}

// Escapes do not change the value of JSON.
func TestVisibleJSON(t *testing.T) {
	raw := json.RawMessage("{\"k\":\"\u202ex\u009b2J \\\\u202e \\\"é\"}")
	var want, got any
	must.Do(t, json.Unmarshal(raw, &want))
	if err := json.Unmarshal(display.AppendJSON(nil, raw), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, %v", display.AppendJSON(nil, raw), got, err)
	}
}

// Shown escapes what would control a terminal, however the lines are cut into pieces.
func TestShown(t *testing.T) {
	lines := "plain\ttab é 世界 \U0001f600\n" + hostile + "\nbytes \xff\xc3\n\r\n\n"
	want := "plain\ttab é 世界 \U0001f600\n" + printable.Text(hostile) + "\nbytes \\xff\\xc3\n\\r\n\n"
	for size := 1; size <= len(lines); size++ {
		var b strings.Builder
		w := printable.Writer(&b)
		for piece := range slices.Chunk([]byte(lines), size) {
			if n, err := w.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if b.String() != want {
			t.Fatalf("in pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
}

// With the guard, no CSV cell of data is a formula to a spreadsheet; numbers stay numbers.
func TestCSVGuard(t *testing.T) {
	columns := []string{"id", "n"}
	rows := [][]any{{"=1+1", -1}, {"+a", 0.5}, {"-a", nil}, {"@a", 1}, {"\ta", 1}, {"＝a", 1}, {"a=b", 1}, {"", 1}}
	guarded := write(t, Options{Format: CSV, CSVGuard: true}, columns, rows...)
	if want := "id,n\n'=1+1,-1\n'+a,0.5\n'-a,\n'@a,1\n'\ta,1\n'＝a,1\na=b,1\n,1\n"; guarded != want {
		t.Errorf("got %q, want %q", guarded, want)
	}
	if plain := write(t, Options{Format: CSV}, columns, rows...); strings.Contains(plain, "'") {
		t.Errorf("without a guard: %q", plain)
	}
}
