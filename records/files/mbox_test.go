package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

const from = "From alice@example.org Thu Jan  1 00:00:00 2026\n"

// readCopied returns the records of a file as "position id=text" or "! issue", and the error that
// ended the reading. copied is a copy of all records.
func readCopied(t *testing.T, name, content string, opt records.Options) (got, copied string, err error) {
	t.Helper()
	src, err := records.New(name, io.NopCloser(strings.NewReader(content)), int64(len(content)), opt)
	if err != nil {
		return "", "", err
	}
	defer src.Close()
	var all []string
	var out bytes.Buffer
	to, err := src.Info().Format.NewCopier(&out, records.CopyOptions{Like: src})
	must.Do(t, err)
	for rec, e := range src.Records(context.Background()) {
		switch is, ok := errors.AsType[*records.Issue](e); {
		case ok:
			all = append(all, "! "+is.Error())
			raw, done, err := is.Bytes()
			if err = errors.Join(err, to.Copy(src, raw)); err != nil {
				t.Fatal(err)
			}
			done()
		case e != nil:
			err = e
		default:
			all = append(all, fmt.Sprintf("%d %s=%s", rec.Pos, rec.Doc.ID, rec.Doc.Text))
			must.Do(t, to.Copy(src, rec.Raw))
		}
	}
	return strings.Join(all, "|"), out.String(), errors.Join(err, to.Close())
}

func TestMessages(t *testing.T) {
	a, b := from+"Message-ID: <a@x>\n\nhello\n>From here\nFrom there\n>>From far\n\n", from+"Message-ID: <b@x>\n\nbye\n\n"
	textA := "1 a@x=hello\nFrom here\nFrom there\n>From far"
	crlf := strings.ReplaceAll(a+b, "\n", "\r\n")
	long := from + "Message-ID: <long>\n\n" + strings.Repeat("x", 3*readerSize) + "\nFrom x\n\n"
	for _, c := range []struct {
		name, content, want string
		opt                 records.Options
	}{
		{"a.mbox", a + b, textA + "|2 b@x=bye", records.Options{}},
		{"a.mbox", a + b[:len(b)-2], textA + "|2 b@x=bye", records.Options{}},
		{"a", a + b, "2 b@x=bye", records.Options{After: 1}},
		{"a", a + b, "1 a:1=hello\nFrom here\nFrom there\n>From far|2 a:2=bye", records.Options{IDField: "X-None", MakeID: true}},
		{"a", b, "1 " + from[5:22] + "=bye", records.Options{IDField: "Sender-Is"}},
		{"a", crlf, strings.ReplaceAll(textA, "\n", "\r\n") + "|2 b@x=bye", records.Options{}},
		{"a", long + b, "1 long=" + strings.Repeat("x", 3*readerSize) + "\nFrom x|2 b@x=bye", records.Options{}},
		{"a", from + "Subject: no id\n\ntext\n\n" + b, `! a:1: no "Message-ID"; IDField names another header, and IDFrom: "line" makes ids|2 b@x=bye`, records.Options{}},
		{"a", from + "Message-ID: <x>\nno header\n\ntext\n\n" + b, "1 x=no header\n\ntext|2 b@x=bye", records.Options{}},
		{"a", "no separator\n\n" + b, `! a:1: it does not begin with "From "|2 b@x=bye`, records.Options{Format: Mbox}},
		{"a.mbox", "", "", records.Options{Format: Mbox}},
		{"a", from + ">From alice Thu Jan  1\nMessage-ID: <c>\n\nx\n\n" + b, "1 c=x|2 b@x=bye", records.Options{}},
		{"a", fence + "\n" + a[len(from):] + fence + "\n" + fence + "\n" + b[len(from):] + fence + "\n", textA + "|2 b@x=bye", records.Options{}},
		{"a", fence + "\r\n" + a[len(from):] + fence + "\r\n" + b[len(from):] + fence, textA + "|2 b@x=bye", records.Options{}},
	} {
		if c.opt.IDField == "Sender-Is" {
			c.content = strings.Replace(c.content, "Message-ID: <b@x>", "Sender-Is: alice@example.org", 1)
		}
		got, copied, err := readCopied(t, c.name, c.content, c.opt)
		if got != c.want || err != nil {
			t.Errorf("%.100q: %.300q, %v, want %.300q", c.content, got, err, c.want)
		}
		if !strings.Contains(got, "!") && c.opt.After == 0 && copied != c.content {
			t.Errorf("%.100q: copied as %q", c.content, copied)
		}
	}
	for _, before := range []string{"\n", "\r\n\n", "\ufeff", "\ufeff\n"} {
		for _, content := range []string{a + b, fence + "\n" + a + fence + "\n" + fence + "\n" + b + fence + "\n"} {
			if got, copied, err := readCopied(t, "a", before+content, records.Options{}); got != textA+"|2 b@x=bye" || copied != content || err != nil {
				t.Errorf("%q: %q, %q, %v", before+content, got, copied, err)
			}
		}
	}
	if _, _, err := readCopied(t, "a", a, records.Options{TextField: "Subject"}); err == nil {
		t.Error("a field for the text was accepted")
	}
	huge := from + "Message-ID: <huge>\n\n" + strings.Repeat(strings.Repeat("x", 1023)+"\n", records.MaxRecord/1024) + "\n"
	if got, copied, err := readCopied(t, "a", huge+b, records.Options{}); err != nil || copied != huge+b || got != fmt.Sprintf("! a:1: too large: %d bytes; the limit of a document is %d|2 b@x=bye", len(huge), records.MaxRecord) {
		t.Errorf("%.200q, %v", got, err)
	}
}

// TestCopyOfMails copies the last message of a mailbox that does not end with an empty line, and
// then a message of another mailbox. The copy must still have two messages.
func TestCopyOfMails(t *testing.T) {
	for _, end := range []string{"", "\n", "\n\n", "\r\n", "\r\n\r\n"} {
		var out bytes.Buffer
		c := must.Get(Mbox.NewCopier(&out, records.CopyOptions{}))(t)
		for _, raw := range []string{from + "Message-ID: <a>\n\none" + end, from + "Message-ID: <b>\n\ntwo\n"} {
			must.Do(t, c.Copy(nil, []byte(raw)))
		}
		if got, _, err := readCopied(t, "a", out.String(), records.Options{}); got != "1 a=one|2 b=two" || err != nil {
			t.Errorf("%q: %q, %v", end, got, err)
		}
	}
}

// TestDetectMbox recognises mailboxes under any name, but not texts with a similar beginning.
func TestDetectMbox(t *testing.T) {
	for content, want := range map[string]records.Format{
		from + "Subject: x\n\ny\n":                                            Mbox,
		"From - Thu, 01 Jan 2026 00:00:00 +0000\nX-Status: 1\n\n":             Mbox,
		"From here to there it takes 12:30 hours, said 2026\nMr. Smith: so\n": "txt",
		"From alice@example.org Thu Jan  1 00:00:00 2026\nand so on\n":        "txt",
		"From dawn\nTill: dusk\n":                                             "txt",
	} {
		src, err := records.New("x", io.NopCloser(strings.NewReader(content)), -1, records.Options{})
		if err != nil {
			if want != "txt" || !strings.Contains(err.Error(), "format is unknown") { // package lines is not linked in here
				t.Errorf("%q: %v", content, err)
			}
			continue
		}
		if got := src.Info().Format; got != want {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
		src.Close()
	}
}

func TestMessageTexts(t *testing.T) {
	multi := func(kind string, parts ...string) string {
		return "Content-Type: multipart/" + kind + "; boundary=\"b" + kind + "\"\n\npreamble\n--b" + kind + "\n" + strings.Join(parts, "\n--b"+kind+"\n") + "\n--b" + kind + "--\n"
	}
	plain, html := "Content-Type: text/plain; charset=utf-8\n\nplain", "Content-Type: text/html\n\n<p>html"
	attached := "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nattached"
	image := "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA"
	for message, want := range map[string]string{
		"\nbody\n":   "body",
		html:         "html",
		"\n\xff\xfe": "\ufffd\ufffd",
		"Content-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: quoted-printable\n\ncaf=E9 =\nau lait": "café au lait",
		"Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: 8bit\n\n\xd0\xd2\xc9\xd7\xc5\xd4":          "привет",
		"Content-Transfer-Encoding: base64\n\naGVs\nbG8=\n":                                                              "hello",
		"Content-Transfer-Encoding: base64\n\naGVsbG8=!!damaged":                                                         "hello",
		"Content-Type: nonsense; ;\n\nstill text":                                                                        "still text",
		image:                                                                                          "",
		multi("mixed", plain, attached, image):                                                         "plain",
		multi("mixed", plain, "\nanother"):                                                             "plain\nanother",
		multi("alternative", html, plain):                                                              "plain",
		multi("alternative", plain, html):                                                              "plain",
		multi("alternative", html, image):                                                              "html",
		multi("mixed", multi("alternative", html, plain), attached):                                    "plain",
		multi("alternative", multi("related", plain), html):                                            "plain",
		strings.TrimSuffix(multi("mixed", plain, "\ncut off"), "\n--bmixed--\n"):                       "plain\ncut off",
		"Content-Type: text/plain; charset=koi8-r; charset=\"koi8-r\"\n\n\xd0\xd2\xc9":                 "при",
		"Content-Type: multipart/mixed; boundary=none\n\nno parts":                                     "no parts",
		"Content-Type: multipart/mixed\n\n--\nno parts":                                                "--\nno parts",
		multi("mixed", "Content-Type text/plain\n\nno header"):                                         "Content-Type text/plain\n\nno header",
		multi("digest", "Content-Type: message/rfc822\n\nSubject: x\n"+plain, plain):                   "plain\nplain",
		"Content-Transfer-Encoding: Quoted-Printable\n\n=E4=BD=A0 =XY = =\n=e5=a5=bd=":                 "你 =XY = 好",
		"Content-Transfer-Encoding: base64\n\n aGVs \n bG8=\n\n-- \nfooter":                            "hello",
		multi("alternative", "Content-Type: text/html; charset=big5\n\n<p>\xa4\xa4<script>x</script>"): "中",
	} {
		got, _, err := readCopied(t, "a", from+"Message-ID: <a>\n"+message, records.Options{})
		if got != "1 a="+want || err != nil {
			t.Errorf("%q: %q, %v, want %q", message, got, err, want)
		}
	}
	nested := "\ndeep"
	for i := range mostNested + 1 {
		nested = multi(fmt.Sprint("x", i), nested)
	}
	if got, _, _ := readCopied(t, "a", from+"Message-ID: <a>\n"+nested, records.Options{}); got != "1 a=" {
		t.Errorf("%q", got)
	}
}

func TestMessageFields(t *testing.T) {
	src, err := records.New("a", io.NopCloser(strings.NewReader(from+"Received: x\nSubject: =?iso-8859-1?q?caf=E9?= \"x\"\nMessage-ID: <a>\nFrom: Alice <a@x>\n\ntext\n")), -1, records.Options{})
	must.Do(t, err)
	defer src.Close()
	for rec, err := range src.Records(context.Background()) {
		if err != nil || string(rec.Doc.Fields) != `{"From":"Alice \u003ca@x\u003e","Subject":"café \"x\""}` {
			t.Errorf("%s, %v", rec.Doc.Fields, err)
		}
	}
}

// A text decodes equally from every charset, in the body and in encoded words.
func TestMessageCharsets(t *testing.T) {
	for _, c := range []struct{ text, charsets string }{
		{"中文", "gb2312 gbk gb18030 big5 hz-gb-2312 utf-8 utf-16 utf-16le"},
		{"日本", "shift_jis windows-31j euc-jp iso-2022-jp"},
		{"한글", "euc-kr ks_c_5601-1987 cp949"},
		{"Ελλ", "iso-8859-7 windows-1253"},
		{"мир", "iso-8859-5 windows-1251 koi8-r koi8-u ibm866 x-mac-cyrillic"},
		{"ไทย", "tis-620 windows-874 iso-8859-11"},
		{"שלום", "iso-8859-8 iso-8859-8-i windows-1255"},
		{"سلام", "iso-8859-6 windows-1256"},
		{"ığş", "iso-8859-9 windows-1254"},
		{"łąś", "iso-8859-2 windows-1250 iso-8859-13 windows-1257 iso-8859-16"},
		{"café", "latin1 iso-8859-15 windows-1252 cp850 ibm437 macintosh iso-8859-14"},
	} {
		for charset := range strings.FieldsSeq(c.charsets) {
			e, err := ianaindex.IANA.Encoding(charset)
			if err != nil || e == nil {
				e, err = htmlindex.Get(strings.ReplaceAll(charset, "cp949", "euc-kr"))
			}
			if err != nil {
				t.Fatal(charset, err)
			}
			encoded, err := e.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(charset, err)
			}
			in64 := base64.StdEncoding.EncodeToString([]byte(encoded))
			m := readMessage([]byte(fmt.Sprintf("Subject: =?%s?B?%s?=\nContent-Type: text/plain; charset=%q\nContent-Transfer-Encoding: base64\n\n%s\n", charset, in64, charset, in64)), records.Options{})
			if want := fmt.Sprintf(`{"Subject":%q}`, c.text); m.Text != c.text || m.Bad || len(m.Guessed) > 0 || string(m.Fields("")) != want {
				t.Errorf("%s: %q, %s, %v", charset, m.Text, m.Fields(""), m.Bad)
			}
		}
	}
	var tally records.Tally
	guesses := func() string {
		_, guessed := tally.All()
		return guessed.String()
	}
	mails := from + "Message-ID: <a>\nContent-Type: text/plain; charset=X-Foo\n\ncaf\xe9\n\n" + from + "Message-ID: <b>\nContent-Type: text/plain; charset=X-Foo\n\nascii\n"
	if got, _, _ := readCopied(t, "a", mails, records.Options{Tally: &tally}); got != "1 a=caf\ufffd|2 b=ascii" || guesses() != "1 x-foo" {
		t.Errorf("%q, %s", got, guesses())
	}
	if got, _, _ := readCopied(t, "a", mails, records.Options{Tally: &tally, Encoding: "latin1"}); got != "1 a=café|2 b=ascii" || guesses() != "" {
		t.Errorf("%q, %s", got, guesses())
	}
}

func TestIsMessage(t *testing.T) {
	for head, want := range map[string]bool{
		"Received: from x\n\tby y\nFrom: a\n\nx":               true,
		"\nReturn-Path: <a>\r\nFrom: a\r\nSubject: b\r\n\r\nx": true,
		"\ufeffTo: b\nFrom: a\nDate: Thu, 1 Jan 2026\n\n":      true,
		"From: a\nTo: b\n\nx":                                  false,
		"Date: 2026\nTitle: x\n\ntext":                         false,
		"words\nFrom: a\nDate: b\n\n":                          false,
		"":                                                     false,
	} {
		if isMessage([]byte(head)) != want {
			t.Errorf("%q", head)
		}
	}
}

// FuzzMessage reads arbitrary messages without a panic.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("From: a\nContent-Type: multipart/alternative; boundary=\"x\"\n\n--x\nContent-Type: text/html\n\n<p>a\n--x\n\nb\n--x--\n"))
	f.Add([]byte("Content-Type: message/rfc822\n\nContent-Type: text/plain; charset=utf-7\nContent-Transfer-Encoding: base64\n\nK1plVm5MQS0="))
	f.Add([]byte("Content-Transfer-Encoding: quoted-printable\nSubject: =?gbk?q?=d6=d0?=\n x\n\n=E9=\n="))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := readMessage(raw, records.Options{})
		if !utf8.ValidString(m.Text) || !json.Valid(m.Fields("")) {
			t.Errorf("%q: %q, %s", raw, m.Text, m.Fields(""))
		}
	})
}
