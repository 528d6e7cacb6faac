package files

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// A mailbox of the mbox family (RFC 4155) is a sequence of messages. A message begins with a line
// that starts with "From ", at the beginning of the file or after an empty line, and ends before
// the next such line:
//
//	From alice@example.org Thu Jan  1 00:00:00 2026
//	Message-ID: <1@example.org>
//	Subject: hello
//
//	the text of the message
//
// The text of a message is its decoded plain text parts (message.go). In an MMDF mailbox, a line of
// four bytes 1 precedes and follows each message.

// Mbox is the name of the format.
const Mbox records.Format = "mbox"

const (
	separator     = "From "
	fence         = "\x01\x01\x01\x01" // a line around MMDF messages
	defaultMailID = "Message-ID"
	readerSize    = 64 << 10
)

func init() {
	records.Register(records.Family{
		Formats:   []records.Description{{Name: Mbox, Label: "mbox", Unit: "message", Endings: []string{".mbox", ".mbx"}}},
		Detect:    detectMbox,
		Open:      openMbox,
		NewCopier: func(w io.Writer, _ records.CopyOptions) (records.Copier, error) { return &mailCopier{w: w}, nil },
	})
}

// dated matches a separator as mail programs write it: with a time of day and a year.
var dated = regexp.MustCompile(`^From \S+ .*\d\d:\d\d.*\d{4}`)

// detectMbox reports whether an input is a mailbox: the first nonempty line is a separator, and the
// next line belongs to a header.
func detectMbox(in *records.Stream, _ records.Options) bool {
	head, _ := in.Head()
	first, rest, _ := bytes.Cut(trimLeft(head), []byte("\n"))
	if isFence(first) {
		return true
	}
	return dated.Match(first) && (fieldName.Match(rest) || bytes.HasPrefix(rest, []byte(">"+separator)))
}

// trimLeft removes a byte order mark and empty lines.
func trimLeft(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), "\r\n")
}

// isMessage reports whether head is the beginning of a single message: a header that names the
// sender, and a date or a route.
func isMessage(head []byte) bool {
	head = trimLeft(head)
	if !fieldName.Match(head) {
		return false
	}
	h, _ := splitMessage(head)
	return hasHeader(head) || h.Get("From") != "" && (h.Get("Date") != "" || h.Get("Received") != "" || h.Get("Message-Id") != "" || h.Get("Return-Path") != "")
}

// hasHeader reports whether head begins with a complete header, which an empty line ends. Many lines
// of JSON look like fields, and the expression would read them all.
func hasHeader(head []byte) bool {
	end := max(bytes.Index(head, []byte("\n\n")), bytes.Index(head, []byte("\n\r\n")))
	return end >= 0 && wholeHeader.Match(head)
}

// wholeHeader matches a complete header with a sender and one of the other fields that mails have.
// No other text begins like this.
var wholeHeader = func() *regexp.Regexp {
	const rest, field, other = `.*\n(?:[ \t].*\n)*`, `(?:[!-9;-~]+[ \t]*:.*\n(?:[ \t].*\n)*)`, `(?:Date|Received|Message-ID|Return-Path|Subject):`
	return regexp.MustCompile(`(?i)^` + field + `*?(?:From:` + rest + field + `*?` + other + rest + `|` + other + rest + field + `*?From:` + rest + `)` + field + `*\r?\n`)
}()

// isFence reports whether a line is one of those around MMDF messages.
func isFence(line []byte) bool { return string(bytes.TrimRight(line, "\r\n")) == fence }

type mailbox struct {
	container
	mmdf bool

	// line is the line read last, which is not part of the current message. If it is longer than
	// the buffer of r, it is a piece of the line; at the end of the file it is empty.
	line   []byte
	begins bool  // line is at the beginning of its line
	apart  bool  // the previous line is empty
	err    error // from reading after line
}

func openMbox(in *records.Stream, opt records.Options) (records.Source, error) {
	if opt.TextField != "" || opt.FingerprintField != "" || opt.Fields != nil || opt.SetField != "" {
		return nil, fmt.Errorf("the text of a message is its body, so %s, %s, %s and %s do not apply",
			option.Name("TextField"), option.Name("Fields"), option.Name("SetField"), option.Name("FingerprintField"))
	}
	head, _ := in.Head()
	f := &mailbox{
		container: newContainer(in, opt, Mbox, defaultMailID, readerSize),
		mmdf:      bytes.HasPrefix(trimLeft(head), []byte(fence)),
	}
	f.readLine()
	f.line = bytes.TrimPrefix(f.line, []byte("\ufeff"))
	return f, nil
}

// Info describes the file.
func (f *mailbox) Info() records.Info {
	shape := "mbox"
	if f.mmdf {
		shape = "MMDF"
	}
	return records.Info{Name: f.in.Name(), Format: Mbox, Shape: shape}
}

// Records yields the messages. A message that cannot be used is an Issue; reading continues with
// the next one.
func (f *mailbox) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return f.records(ctx, func() (*records.Record, error) {
		raw, whole, err := f.message()
		switch {
		case err != nil:
			return nil, err
		case f.n <= f.opt.After:
			whole.Close()
			return nil, errSkip
		}
		return f.document(raw, whole)
	})
}

// readLine reads the next line, or the next piece of a long line.
func (f *mailbox) readLine() {
	f.apart = f.begins && len(bytes.TrimRight(f.line, "\r\n")) == 0
	f.begins = len(f.line) == 0 || f.line[len(f.line)-1] == '\n'
	f.apart = f.apart && f.begins
	f.line, f.err = f.r.ReadSlice('\n')
	if f.err == bufio.ErrBufferFull {
		f.err = nil
	}
}

// message reads a message. It returns its bytes or, if it is larger than MaxRecord, the beginning
// and an Oversize with all bytes.
func (f *mailbox) message() (raw []byte, whole *records.Oversize, err error) {
	for (f.n == 0 || f.mmdf) && f.err == nil && len(bytes.TrimRight(f.line, "\r\n")) == 0 {
		f.readLine() // skip empty lines before the first message
	}
	if len(f.line) == 0 {
		return nil, nil, f.err
	}
	f.n++
	for ended := false; raw == nil || len(f.line) > 0 && !ended && !f.separates(); {
		ended = f.mmdf && raw != nil && f.begins && isFence(f.line)
		switch {
		case whole != nil:
			whole.Write(f.line)
		case len(raw)+len(f.line) > records.MaxRecord:
			whole = records.NewOversize(raw)
			whole.Write(f.line)
			raw = bytes.Clone(raw[:readerSize])
		default:
			raw = append(raw, f.line...)
		}
		if f.err != nil {
			f.line = nil
			break
		}
		f.readLine()
	}
	if f.err != nil && f.err != io.EOF {
		whole.Close()
		return nil, nil, f.err
	}
	return raw, whole, nil
}

// separates reports whether the current line begins the next message.
func (f *mailbox) separates() bool {
	return !f.mmdf && f.begins && f.apart && bytes.HasPrefix(f.line, []byte(separator))
}

func (f *mailbox) document(raw []byte, whole *records.Oversize) (*records.Record, error) {
	if whole != nil {
		defer whole.Close()
		is := f.issue(raw, "")
		whole.Complete(is, whole.Size())
		return nil, is
	}
	message := raw
	if f.mmdf {
		message = bytes.TrimPrefix(message, []byte(fence))
		message = bytes.TrimLeft(bytes.TrimSuffix(bytes.TrimRight(message, "\r\n"), []byte(fence)), "\r\n")
	} else if !bytes.HasPrefix(raw, []byte(separator)) {
		return nil, f.issue(raw, fmt.Sprintf("it does not begin with %q", separator))
	}
	m := readMessage(message, f.opt)
	f.guessed.Add(m.Guessed)
	id := strings.Trim(m.Header.Get(f.id), "<> \t")
	return f.record(engine.Doc{ID: id, Text: m.Text, Fields: m.Fields(f.id)}, raw, m.Bad)
}

// mailCopier copies messages byte for byte.
type mailCopier struct {
	noFooter
	w    io.Writer
	open string // line ends that the last message still needs, so that an empty line follows it
}

// Copy writes a message.
func (c *mailCopier) Copy(_ records.Source, raw []byte, _ ...any) error {
	if _, err := io.WriteString(c.w, c.open); err != nil {
		return err
	}
	c.open = ""
	switch {
	case bytes.HasSuffix(bytes.TrimRight(raw, "\r\n"), []byte("\n"+fence)):
		if raw[len(raw)-1] != '\n' {
			c.open = "\n"
		}
	case !bytes.HasSuffix(raw, []byte("\n")):
		c.open = "\n\n"
	case !bytes.HasSuffix(raw, []byte("\n\n")) && !bytes.HasSuffix(raw, []byte("\n\r\n")):
		c.open = "\n"
	}
	_, err := c.w.Write(raw)
	return err
}
