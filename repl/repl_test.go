package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/front"
	_ "github.com/simdb/simdb/internal/golden" // the flag -update
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/repl/output"
)

func openTest(t testing.TB) *engine.DB {
	t.Helper()
	db := must.Get(engine.Open(filepath.Join(t.TempDir(), "test.simdb"), nil))(t)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// fakeEditor types lines: "^C" stands for Ctrl-C, and the end of the lines for Ctrl-D.
type fakeEditor struct {
	lines   []string
	screen  io.Writer
	history []string
	closed  bool
}

func (e *fakeEditor) Prompt(prompt string) (string, error) {
	if len(e.lines) == 0 {
		fmt.Fprint(e.screen, prompt)
		return "", io.EOF
	}
	line := e.lines[0]
	e.lines = e.lines[1:]
	fmt.Fprintln(e.screen, prompt+line)
	if line == "^C" {
		return "", errAborted
	}
	return line, nil
}

func (e *fakeEditor) AppendHistory(line string) { e.history = append(e.history, line) }
func (e *fakeEditor) Close() error              { e.closed = true; return nil }

// labelled marks lines of standard error, so that a golden file distinguishes them from rows.
type labelled struct{ w io.Writer }

func (l labelled) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		fmt.Fprint(l.w, "! "+line)
	}
	return len(p), nil
}

var masks = map[*regexp.Regexp]string{
	regexp.MustCompile(`(sketch|min_jaccard)\t\S+`):                      "$1\tN",
	regexp.MustCompile(`\S+[/\\]test\.simdb`):                            "$$DB",
	regexp.MustCompile(`(table \d+\.sst|memtable): scan \d+ documents?`): "a plan",
	regexp.MustCompile(`\d+ probes?, (\d+ match(?:es)?), \d+ tables?`):   "N probes, $1, N tables",
}

// inFolder matches a path in the folder of a test.
var inFolder = regexp.MustCompile(`\$DIR\S*`)

// TestGolden runs testdata/*; -update rewrites the outputs. Lines of standard error are marked with
// "! ".
//
//	script [format=F]     the input comes through a pipe
//	exec [format=F]       each line of the input is an argument
//	converse [format=F]   each line of the input is typed
//	file NAME             writes the input to a file in a folder that $DIR stands for
//	cat NAME              shows a file, or says that there is none
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		db := openTest(t)
		dir := t.TempDir()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out bytes.Buffer
			input := strings.ReplaceAll(d.Input, "$DIR", dir)
			cfg := Config{DB: db, Out: &out, Err: labelled{&out}, Output: output.Options{Format: output.TSV}, HistoryFile: filepath.Join(dir, "history"),
				ConfigFile: filepath.Join(dir, "simdbrc")}
			if d.HasArg("format") {
				var name string
				d.ScanArgs(t, "format", &name)
				f := must.Get(output.ParseFormat(name))(t)
				cfg.Output.Format, cfg.FormatSet = f, true
			}
			status := 0
			switch d.Cmd {
			case "script":
				cfg.In = strings.NewReader(input)
				status = Run(t.Context(), cfg)
			case "exec":
				status = Exec(t.Context(), cfg, strings.Split(input, "\n")...)
			case "converse":
				cfg.Interactive = true
				cfg.editor = &fakeEditor{lines: strings.Split(input, "\n"), screen: &out}
				status = Run(t.Context(), cfg)
			case "file":
				must.Do(t, os.WriteFile(filepath.Join(dir, d.CmdArgs[0].Key), []byte(input+"\n"), 0o600))
				return ""
			case "cat":
				b, err := os.ReadFile(filepath.Join(dir, d.CmdArgs[0].Key))
				if errors.Is(err, fs.ErrNotExist) {
					return "there is none"
				}
				must.Do(t, err)
				return string(b)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
				out.WriteString("\n")
			}
			fmt.Fprintf(&out, "status %d\n", status)
			text := strings.ReplaceAll(out.String(), dir, "$DIR")
			text = inFolder.ReplaceAllStringFunc(text, filepath.ToSlash)
			_, missing := os.Stat("no file has this name")
			text = strings.ReplaceAll(text, errors.Unwrap(missing).Error(), "no such file or directory")
			for pattern, with := range masks { // mask what depends on the engine's files
				text = pattern.ReplaceAllString(text, with)
			}
			return text
		})
	})
}

// A program that drives a REPL through two pipes must get the rows of a statement before it writes
// the next.
func TestFlushesBeforeReading(t *testing.T) {
	db := openTest(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan int)
	go func() {
		status := Run(t.Context(), Config{DB: db, In: inR, Out: outW, Err: io.Discard, Output: output.Options{Format: output.JSONL}})
		outW.Close()
		done <- status
	}()
	read := make([]byte, 4096)
	for i := range 3 {
		fmt.Fprintf(inW, "PUT {\"id\": \"doc-%d\", \"fingerprint\": \"0xff\"};\n", i)
		if n, err := outR.Read(read); err != nil || string(read[:n]) != "{\"message\":\"stored\"}\n" {
			t.Fatalf("got %q, %v", read[:n], err)
		}
		fmt.Fprintf(inW, "NEAR(0xff, 0)\n LIMIT 1; ")
		if n, err := outR.Read(read); err != nil || string(read[:n]) != "{\"id\":\"doc-0\",\"distance\":0}\n" {
			t.Fatalf("got %q, %v", read[:n], err)
		}
		fmt.Fprintln(inW)
	}
	inW.Close()
	if status := <-done; status != ExitOK {
		t.Errorf("status %d", status)
	}
}

// The format of a file's extension applies to that file; the format of .mode to all files.
func TestOutputFormat(t *testing.T) {
	db := openTest(t)
	must.Do(t, db.Put(t.Context(), engine.Doc{ID: "a"}))
	to := ".output " + filepath.Join(t.TempDir(), "rows")
	for _, c := range []struct {
		statements []string
		want       string
	}{
		{[]string{"COUNT", to + ".jsonl", "COUNT", ".output", "COUNT"}, "1\n1\n"},
		{[]string{to + ".jsonl", to + ".csv", "COUNT", ".output", "COUNT", ".output"}, "1\n"},
		{[]string{".mode csv", to + ".jsonl", "COUNT", ".output", "COUNT"}, "count\n1\n"},
		{[]string{to + "2.jsonl", ".mode csv", "COUNT", ".output", "COUNT"}, "count\n1\n"},
	} {
		var out, talk bytes.Buffer
		cfg := Config{DB: db, Out: &out, Err: &talk, Output: output.Options{Format: output.TSV}}
		if status := Exec(t.Context(), cfg, c.statements...); status != ExitOK || out.String() != c.want {
			t.Errorf("%q: status %d, %q, %s", c.statements, status, out.String(), talk.String())
		}
	}
}

// A file of .read is not replaced by .output.
func TestOutputOverRead(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	must.Do(t, os.WriteFile(script, []byte("COUNT;\n"), 0o600))
	var out, talk bytes.Buffer
	cfg := Config{DB: openTest(t), Out: &out, Err: &talk, Output: output.Options{Format: output.TSV}}
	if status := Exec(t.Context(), cfg, ".read "+script, ".output "+script, "COUNT"); status != ExitError || !strings.Contains(talk.String(), "a file that was read") {
		t.Errorf("status %d, %q, %q", status, out.String(), talk.String())
	}
	if text, err := os.ReadFile(script); string(text) != "COUNT;\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFooter(t *testing.T) {
	db := openTest(t)
	var out, talk bytes.Buffer
	cfg := Config{DB: db, Out: &out, Err: &talk, Output: output.Options{Terminal: true, MaxRows: 2}}
	Exec(t.Context(), cfg, `PUT {"id": "a", "fingerprint": "1"}; PUT {"id": "b", "fingerprint": "3"}; PUT {"id": "c", "fingerprint": "7"}`)
	talk.Reset()
	if status := Exec(t.Context(), cfg, "NEAR(1, 1)", "NEAR('a', 0)", "NEAR(1, 64)", ".last", ".timer off", "NEAR(1, 0)"); status != ExitOK {
		t.Errorf("status %d", status)
	}
	want := regexp.MustCompile(`^2 rows \([\d.]+ m?s, \d+ candidates\)
0 rows \([\d.]+ m?s, \d+ candidates\)
3 rows \(2 shown, \.last shows all, [\d.]+ m?s, \d+ candidates\)
3 rows \([\d.]+ m?s, \d+ candidates\)
1 row
$`)
	if !want.MatchString(talk.String()) {
		t.Errorf("got\n%s", talk.String())
	}
}

// Ctrl-C, which cancels the context of a script, ends the script at once with status 130.
func TestCancel(t *testing.T) {
	db := openTest(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var talk bytes.Buffer
	if status := Exec(ctx, Config{DB: db, Out: io.Discard, Err: &talk}, "ID LIKE '%'", `PUT {"id": "a"}`, "ID LIKE '%'"); status != ExitInterrupt {
		t.Errorf("status %d, %s", status, talk.String())
	}
}

// .check of a damaged database prints where the damage is, and ends with status 1.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.simdb")
	db, err := engine.Open(path, nil)
	must.Do(t, err)
	var out, talk bytes.Buffer
	cfg := Config{DB: db, Out: &out, Err: &talk, Output: output.Options{Format: output.JSONL}}
	if status := Exec(t.Context(), cfg, `PUT {"id": "a", "text": "one two three"}`, ".flush", ".check"); status != ExitOK {
		t.Fatalf("status %d: %s", status, talk.String())
	}
	must.Do(t, db.Close())
	files, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	must.Do(t, err)
	for i := range 16 { // the first section, after the header
		b[64+i] ^= 0xff
	}
	must.Do(t, os.WriteFile(files[0], b, 0o600))
	if cfg.DB, err = engine.Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer cfg.DB.Close()
	out.Reset()
	cfg.In = strings.NewReader(".check\nCOUNT;\n")
	if status := Run(t.Context(), cfg); status != ExitNo || !strings.HasPrefix(out.String(), `{"file":"`) || !strings.Contains(out.String(), `{"count":1}`) {
		t.Errorf("status %d\n%s%s", status, out.String(), talk.String())
	}
}

type failingReader struct{}

var errBroken = errors.New("broken")

func (failingReader) Read([]byte) (int, error) { return 0, errBroken }

func TestReadError(t *testing.T) {
	var talk bytes.Buffer
	if status := Run(t.Context(), Config{DB: openTest(t), In: failingReader{}, Out: io.Discard, Err: &talk}); status != ExitError {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(talk.String(), "broken") {
		t.Errorf("%q does not name the cause", talk.String())
	}
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	path := filepath.Join(dir, "simdb", "history")
	db := openTest(t)
	talk := func(lines ...string) *fakeEditor {
		e := &fakeEditor{lines: lines, screen: io.Discard}
		if status := Run(t.Context(), Config{DB: db, Out: io.Discard, Err: io.Discard, Interactive: true, editor: e}); status != ExitOK {
			t.Errorf("status %d", status)
		}
		if !e.closed {
			t.Error("the terminal was not given back")
		}
		return e
	}
	talk("COUNT;", "", ".timer on")
	if e := talk(".quit"); !slices.Equal(e.history, []string{"COUNT;", ".timer on", ".quit"}) {
		t.Errorf("history %q", e.history)
	}
	// The history returns a statement that spans lines as a whole, without its comments, and does
	// not return an aborted one.
	talk("help", "NEAR(0x1,", "^C", "NEAR(0xff, -- all", "  3)", "", "limit 3;", "GET 'a", "b';", ".timer off")
	want := []string{"COUNT;", ".timer on", ".quit", "help", "NEAR(0xff, 3) limit 3;", "GET 'a", "b';", ".timer off", ".quit"}
	if e := talk(".quit"); !slices.Equal(e.history, want) {
		t.Errorf("history %q", e.history)
	}
	private := func() {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // Windows has no such mode bits
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	private()
	// A long history is cut, and a history that others may read becomes private.
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("COUNT;\n", 5000)+"GET 'x';\n"), 0o644))
	if e := talk(".flush"); len(e.history) != historyLines+1 || e.history[historyLines-1] != "GET 'x';" {
		t.Errorf("%d lines", len(e.history))
	}
	b, err := os.ReadFile(path)
	if n := strings.Count(string(b), "\n"); err != nil || n != historyLines+1 {
		t.Errorf("%d lines, %v", n, err)
	}
	private()
}

func TestComplete(t *testing.T) {
	db := openTest(t)
	for _, id := range []string{"doc-1", "doc-2", "it's", "bell\a", "other"} {
		fp := uint64(1)
		d := engine.Doc{ID: id, Fingerprints: []engine.Fingerprint{{fp}}, Time: time.Unix(1, 0), Fields: []byte(`{"family":"x","meta":{"lang":"en"},"time":1}`)}
		must.Do(t, db.Put(t.Context(), d))
	}
	s := newSession(t.Context(), Config{DB: db})
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "script.simdb"), nil, 0o600))
	for _, tc := range []struct{ line, want string }{ // ^ marks the cursor
		{"NEA^", "[NEAR NEAREST]^"},
		{"nea^", "[near nearest]^"},
		{"NEAR('a', 3) or^ LIMIT 3", "NEAR('a', 3) [or order]^ LIMIT 3"},
		{"NEAR('doc^", "NEAR('[doc-1' doc-2']^"},
		{"NEAR('it^", "NEAR('[it''s']^"},
		{"NEAR('it''^", "NEAR('[it''s']^"},
		{"NEAR('b^", "NEAR('[]^"},
		{"GET '^'", "GET '[doc-1' doc-2' it''s' other']^'"},
		{"fam^", "[family]^"},
		{"NEAR('a', 3) SHOW ^", "NEAR('a', 3) SHOW [family meta.lang fields.time]^"},
		{"SHOW id, me^", "SHOW id, [meta.lang]^"},
		{"NEAR('a', 3) ^", "NEAR('a', 3) []^"},
		{"zzz^", "[]^"},
		{"^", "[]^"},
		{".^", "[.help .mode .timer .explain .output .once .width .read .import .maxrows .last .history .quit .stats .schema .fields .check .allowed .allow .unallow .prune .flush .compact]^"},
		{".ti^", "[.timer]^"},
		{".mode j^", ".mode [jsonl json]^"},
		{".timer ^", ".timer [on off]^"},
		{".help near^", ".help [NEAR NEAREST]^"},
		{".read " + dir + "/scr^", ".read [" + dir + "/script.simdb]^"},
		{"日本 lik^", "日本 [like]^"},
	} {
		before, after, _ := strings.Cut(tc.line, "^")
		head, list, tail := s.complete(before+after, len([]rune(before)))
		if got := head + "[" + strings.Join(list, " ") + "]^" + tail; got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.line, got, tc.want)
		}
	}
}

// TestHelp checks that .help lists every construct of the language and every dot-command, one per
// line, in two columns.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if code := Exec(t.Context(), Config{DB: openTest(t), Out: &out}, ".help"); code != ExitOK {
		t.Fatal(code)
	}
	var want []string
	for _, topic := range front.Language.Topics {
		want = append(want, fmt.Sprintf("%-51s  %s", topic.Syntax, topic.Help))
	}
	want = append(want, "")
	for _, c := range dotCommands() {
		want = append(want, fmt.Sprintf("%-51s  %s", strings.TrimSpace("."+c.name+" "+c.arguments), c.help))
	}
	if got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHelpWidth writes .help for terminals of several widths: no line is longer, and no word is
// lost.
func TestHelpWidth(t *testing.T) {
	var words []string
	for _, width := range []int{0, 60, 80, 120, 200} {
		var out strings.Builder
		s := &session{out: &out, options: output.Options{Width: width}, commands: dotCommands()}
		must.Do(t, s.dotHelp(""))
		for line := range strings.Lines(out.String()) {
			if n := len(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
		got := strings.Fields(out.String())
		slices.Sort(got)
		if words == nil {
			words = got
		}
		if !slices.Equal(got, words) {
			t.Errorf("width %d: other words:\n%s", width, out.String())
		}
	}
}

// .once writes the rows of one statement, .width cuts tables, and .help of a word shows its forms,
// its columns and examples.
func TestOnceWidthHelp(t *testing.T) {
	db := openTest(t)
	fp := uint64(1)
	must.Do(t, db.Put(t.Context(), engine.Doc{ID: "a", Text: strings.Repeat("long ", 40), Fingerprints: []engine.Fingerprint{{fp}}}))
	file := filepath.Join(t.TempDir(), "rows.csv")
	var out, errs bytes.Buffer
	cfg := Config{DB: db, Out: &out, Err: &errs}
	if code := Exec(t.Context(), cfg, ".once "+file, "LIMIT 1", "COUNT", ".mode table", ".width 30", "SHOW id, text", ".help near"); code != ExitOK {
		t.Fatal(code, errs.String())
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "id\na\n" {
		t.Errorf(".once wrote %q, %v", got, err)
	}
	if !strings.HasPrefix(out.String(), "┌───────┐\n│ count │") {
		t.Errorf("after .once: %s", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "│") && display.Width(line) > 31 {
			t.Errorf("wider than .width: %s", line)
		}
	}
	for _, want := range []string{"NEAR(what, k)", "distance)", "COUNT NEAR('a', 3)", "ORDER BY"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf(".help near lacks %s: %s", want, out.String())
		}
	}
	if code := Exec(t.Context(), cfg, ".dump x"); code != ExitError || !strings.Contains(errs.String(), "SHOW *") {
		t.Errorf(".dump: %d, %s", code, errs.String())
	}
}
