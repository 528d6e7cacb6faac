package records

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// whole is a Source whose only record is the whole file.
type whole struct {
	in *Stream
	r  io.ReaderAt
	n  int64
}

func openWhole(in *Stream, _ Options) (Source, error) {
	r, n, err := in.ReaderAt()
	return &whole{in, r, n}, err
}

func (w *whole) Info() Info                   { return Info{Name: w.in.Name(), Format: "whole"} }
func (w *whole) Progress() (done, size int64) { return w.in.Progress() }
func (w *whole) Close() error                 { w.in.Release(); return w.in.Close() }
func (w *whole) Records(context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		raw := make([]byte, w.n)
		if _, err := w.r.ReadAt(raw, 0); err != nil {
			yield(nil, &ReadError{File: w.in.Name(), Unit: "document", Err: err})
			return
		}
		yield(&Record{File: w.in.Name(), Pos: 1, End: 1, Raw: raw}, nil)
	}
}

// Content for random access is the file itself, or a temporary copy of the data from a pipe or a
// decompressor. The copy is removed afterwards.
func TestReaderAt(t *testing.T) {
	defer func(f []*Family) { families = f }(families)
	families = nil
	Register(Family{Formats: []Description{{Name: "whole", Unit: "document"}}, Open: openWhole})
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	content := strings.Repeat("0123456789", 20_000)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, content)
	z.Close()
	check := func(name string, s Source, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		for rec, err := range s.Records(t.Context()) {
			if err != nil || string(rec.Raw) != content {
				t.Errorf("%s: %d bytes, %v", name, len(rec.Raw), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(name, err)
		}
	}
	s, err := New("pipe", io.NopCloser(strings.NewReader(content)), -1, Options{})
	check("pipe", s, err)
	s, err = New("packed", io.NopCloser(&packed), int64(packed.Len()), Options{})
	check("packed", s, err)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	name := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(name, []byte(content), 0o666))
	s, err = Open(name, Options{})
	check("file", s, err)
}

// Names of formats are unique, only one family may have a nil Detect, and without such a family an
// unrecognised input is refused.
func TestRegister(t *testing.T) {
	defer func(f []*Family) { families = f }(families)
	families = nil
	never := func(*Stream, Options) bool { return false }
	Register(Family{Formats: []Description{{Name: "a", Aliases: []Format{"b"}, Unit: "row"}}, Detect: never, Open: openWhole})
	_, err := New("x", io.NopCloser(strings.NewReader("x")), 1, Options{})
	if re, ok := errors.AsType[*ReadError](err); !ok || re.Error() != "x: its format is unknown" {
		t.Errorf("no family: %v", err)
	}
	if f, err := ParseFormat("B"); f != "a" || err != nil || f.Unit() != "row" {
		t.Errorf("alias: %q, %v", f, err)
	}
	if _, err := ParseFormat("c"); err == nil || err.Error() != `unknown input format "c": one of a` {
		t.Errorf("unknown: %v", err)
	}
	Register(Family{Formats: []Description{{Name: "c"}}, Open: openWhole})
	for what, f := range map[string]Family{
		"a taken name":       {Formats: []Description{{Name: "b"}}, Detect: never},
		"a second fallback":  {Formats: []Description{{Name: "d"}}},
		"a name taken twice": {Formats: []Description{{Name: "e", Aliases: []Format{"a"}}}, Detect: never},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			Register(f)
		}()
	}
}

// TestContentBytes has a file of each kind, an empty file and a missing file.
func TestContentBytes(t *testing.T) {
	for head, want := range map[string]int64{
		"":                             0,
		"plain text":                   10,
		"\x1f\x8b\x08 gzip":            8 * packedShare,
		"\x28\xb5\x2f\xfd zstd":        9 * packedShare,
		"\x50\x2a\x4d\x18\x01 skipped": 13 * packedShare,
		"PAR1":                         4 * packedShare,
	} {
		name := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(name, []byte(head), 0o666))
		if got := ContentBytes(name); got != want {
			t.Errorf("%q: %d bytes, want %d", head, got, want)
		}
	}
	if got := ContentBytes(filepath.Join(t.TempDir(), "none")); got != 0 {
		t.Errorf("no file: %d bytes", got)
	}
}

// TestForeign checks that errors for files of other kinds name the kind, also where a file is read
// as one text. Texts are not refused if the caller wants their lines.
func TestForeign(t *testing.T) {
	defer func(f []*Family) { families = f }(families)
	families = nil
	Register(Family{Formats: []Description{{Name: "whole", Unit: "document"}}, Open: openWhole})
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00": "it is a picture", "\xff\xd8\xff\xe0": "it is a picture", "%PDF-1.4\n": "it is a PDF document: pdftotext",
		"7z\xbc\xaf\x27\x1c": "7z archive", strings.Repeat("a", 257) + "ustar": "tar archive", "{\\rtf1": "RTF", "PK\x03\x04": "zip archive",
		"<?xml version=\"1.0\"?>": "XML", "TY  - JOUR\n": "RIS", "<p>text": "",
	} {
		text := strings.Contains("XML RIS", want)
		for _, opt := range []Options{{}, {Format: "whole"}} {
			s, err := New("a", io.NopCloser(strings.NewReader(head)), int64(len(head)), opt)
			refused := want != "" && (opt.Format == Auto || !text)
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), want) {
				t.Errorf("%q, %q: %v, want %s", head, opt.Format, err, want)
			}
			if err == nil {
				s.Close()
			}
		}
		name := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(name, []byte(head), 0o666))
		if f, err := OpenContent(t.Context(), name, UTF8); (err == nil) != text {
			t.Errorf("%q as one text: %v", head, err)
		} else if err == nil {
			f.Close()
		}
	}
	name := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(name, []byte("a\x00b"), 0o666))
	if _, err := OpenContent(t.Context(), name, UTF8); err == nil || !strings.Contains(err.Error(), "NUL bytes") {
		t.Errorf("NUL bytes: %v", err)
	}
}
