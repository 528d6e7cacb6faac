package input

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// recode decodes and encodes content, a byte at a time where slow is set.
func recode(t *testing.T, e Encoding, content []byte, slow bool) (text string, again []byte) {
	t.Helper()
	var r io.Reader = bytes.NewReader(content)
	if slow {
		r = iotest.OneByteReader(r)
	}
	decoded, err := io.ReadAll(transform.NewReader(r, e.decoder()))
	if err != nil {
		t.Fatal(e, err)
	}
	var out bytes.Buffer
	w := transform.NewWriter(&out, e.encoder())
	for rest := decoded; len(rest) > 0; {
		n := len(rest)
		if slow {
			n = 1
		}
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(e, err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(e, err)
	}
	return string(decoded), out.Bytes()
}

// Whatever the bytes are, they are the same after decoding and encoding.
func TestEncodings(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, e := range []Encoding{Latin1, Windows1252, UTF16LE, UTF16BE} {
		contents := [][]byte{all, nil}
		for range 50 {
			units := make([]byte, 2*rng.IntN(3000))
			for i := range units {
				units[i] = byte(rng.Uint32())
				if rng.IntN(4) == 0 {
					units[i] = 0xd8 + byte(rng.IntN(8)) // surrogates, some of them alone
				}
			}
			contents = append(contents, units)
		}
		for _, content := range contents {
			fast, again := recode(t, e, content, false)
			if !bytes.Equal(again, content) {
				t.Fatalf("%s: %x became %x", e, content, again)
			}
			if slow, again := recode(t, e, content, true); slow != fast || !bytes.Equal(again, content) {
				t.Fatalf("%s: %x by the byte is other than at once", e, content)
			}
		}
	}
	for e, content := range map[Encoding]string{
		Latin1: "caf\xe9", Windows1252: "caf\xe9", UTF16LE: "c\x00a\x00f\x00\xe9\x00", UTF16BE: "\x00c\x00a\x00f\x00\xe9",
	} {
		if text, _ := recode(t, e, []byte(content), false); text != "café" {
			t.Errorf("%s: %q", e, text)
		}
	}
	if text, _ := recode(t, UTF16BE, []byte("\xd8\x3d\xde\x00\xd8\x00"), false); text != "😀\xed\xa0\x80" {
		t.Errorf("%q", text)
	}
	if _, err := io.ReadAll(transform.NewReader(strings.NewReader("a\x00b"), UTF16LE.decoder())); err != errOddUTF16 {
		t.Error(err)
	}
}

func TestEncodingNames(t *testing.T) {
	for s, want := range map[string]Encoding{"UTF-8": UTF8, "latin1": Latin1, "ISO-8859-1": Latin1, "utf-16le": UTF16LE} {
		var e Encoding
		if err := e.UnmarshalText([]byte(s)); err != nil || e != want {
			t.Errorf("%s: %q, %v", s, e, err)
		}
	}
	var e Encoding
	if err := e.UnmarshalText([]byte("koi8-r")); err == nil {
		t.Error("an unknown encoding was accepted")
	}
}
