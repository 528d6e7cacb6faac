package records

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// recode decodes and encodes content. If slow is set, it reads one byte at a time.
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

// Decoding and encoding restores any bytes.
func TestEncodings(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	var pairs []byte // every pair of bytes
	for b := range 1 << 16 {
		pairs = append(pairs, byte(b>>8), byte(b))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, e := range []Encoding{
		"latin1", "windows-1252", UTF16LE, UTF16BE, "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "koi8-r", "iso-8859-7", "cp850", "macintosh", "tis-620",
	} {
		contents := [][]byte{all, nil, pairs}
		for range 8 {
			units := make([]byte, rng.IntN(6000))
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
		"latin1": "caf\xe9", "windows-1252": "caf\xe9", UTF16LE: "c\x00a\x00f\x00\xe9\x00", UTF16BE: "\x00c\x00a\x00f\x00\xe9", "cp850": "caf\x82",
	} {
		if text, _ := recode(t, e, []byte(content), false); text != "café" {
			t.Errorf("%s: %q", e, text)
		}
	}
	for e, content := range map[Encoding]string{
		"shift_jis": "\x93\xfa\x96\x7b\\\x83\x5c", "euc-jp": "\xc6\xfc\xcb\xdc\\\xa5\xbd", "iso-2022-jp": "\x1b$BF|K\\\x1b(B\\\x1b$B%=\x1b(B\n",
	} {
		for _, slow := range []bool{false, true} {
			if text, again := recode(t, e, []byte(content), slow); strings.TrimSpace(text) != `日本\ソ` || string(again) != content {
				t.Errorf("%s: %q, %q", e, text, again)
			}
		}
	}
	if text, _ := recode(t, UTF16BE, []byte("\xd8\x3d\xde\x00\xd8\x00"), false); text != "😀\xed\xb3\x98\xed\xb0\x80" {
		t.Errorf("%q", text)
	}
	if _, err := io.ReadAll(transform.NewReader(strings.NewReader("\x1b$B\x1b$BF|\x1b(B\n"), Encoding("iso-2022-jp").decoder())); err == nil || !strings.Contains(err.Error(), "iconv -f iso-2022-jp") {
		t.Error(err)
	}
}

func TestEncodingNames(t *testing.T) {
	for s, want := range map[string]Encoding{"UTF-8": UTF8, "latin1": "latin1", "ISO-8859-1": "iso-8859-1", "utf-16le": UTF16LE, "KOI8-R": "koi8-r", "IBM850": "ibm850", "cp949": "cp949", "GB18030": "gb18030"} {
		var e Encoding
		if err := e.UnmarshalText([]byte(s)); err != nil || e != want {
			t.Errorf("%s: %q, %v", s, e, err)
		}
	}
	for _, s := range []string{"klingon", "utf-16", "iso-2022-kr"} {
		var e Encoding
		if err := e.UnmarshalText([]byte(s)); err == nil {
			t.Errorf("%s: an encoding that is not known was accepted", s)
		}
	}
}

// Texts of mails and pages are decoded from the charset that they name, or from --encoding.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		text, charset string
		otherwise     Encoding
		want          string
		bad, guessed  bool
	}{
		{"caf\xe9", "ISO-8859-1", UTF8, "café", false, false},
		{"caf\xc3\xa9", "us-ascii", UTF8, "café", false, false},
		{"caf\xe9", "us-ascii", UTF8, "caf\ufffd", true, false},
		{"caf\xe9", "", "latin1", "café", false, false},
		{"caf\xe9", "x-foo", UTF8, "caf\ufffd", true, true},
		{"caf\xe9", "x-foo", "latin1", "café", false, false},
		{"cafe", "x-foo", UTF8, "cafe", false, false},
		{"\xd6\xd0\xce\xc4", "gb2312", UTF8, "中文", false, false},
		{"\xd6\xd0\xff\xc4", "gb2312", UTF8, "中\ufffd\ufffd", true, false},
		{"\xa4\xa4\xa4\xe5", "Big5", UTF8, "中文", false, false},
		{"\x1b$BF|K\\\x1b(B", "iso-2022-jp", UTF8, "日本", false, false},
		{"\xc7\xd1\xb1\xdb", "ks_c_5601-1987", UTF8, "한글", false, false},
		{"\xfe\xff\x00a", "utf-16", UTF8, "a", false, false},
		{"1 +- 2 = +ZeVnLA-, caf+AOk +", "utf-7", UTF8, "1 + 2 = 日本, café +", false, false},
		{"\xa1\xa2", "tis-620", UTF8, "กข", false, false},
	} {
		got, bad, guessed := Decode([]byte(c.text), c.charset, c.otherwise)
		if got != c.want || bad != c.bad || guessed != c.guessed {
			t.Errorf("%q in %s: %q, bad %v, guessed %v", c.text, c.charset, got, bad, guessed)
		}
	}
	for name := range charsetAliases {
		if charset(name) == nil {
			t.Error(name)
		}
	}
	for _, name := range asciiNames {
		if _, bad, guessed := Decode([]byte("\xff"), name, UTF8); !bad || guessed {
			t.Error(name)
		}
	}
}
