package lines

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// parser makes a document of the bytes of a record. It returns the reason if it cannot, or "".
// Several goroutines use it concurrently.
type parser interface {
	parse(raw []byte, rec *record) (reason string)
}

// record is a Record and the notation of its fingerprint.
type record struct {
	records.Record
	notation base.Notation        // of the fingerprint's text, if the rule of package base decided
	widths   [2]int               // possible lengths, if the length is unknown or different
	written  []byte               // the fingerprint's text
	fp       []uint64             // words of the fingerprint
	one      []engine.Fingerprint // has place for fp, or is nil
	listed   bool                 // the text comes from a list
}

// prints is the notation and length of the fingerprints of a file.
type prints struct {
	notation base.Notation
	bits     int // 0 while the file is surveyed
}

// setFingerprint sets the fingerprint of a record from its text. It returns the reason if it
// cannot, or "".
func (r *record) setFingerprint(text []byte, p prints) string {
	bits := p.bits
	if bits == 0 {
		r.widths, r.written = base.Widths(text, p.notation), text
		bits = cmp.Or(r.widths[0], base.FingerprintBits)
	}
	if words := bits / base.FingerprintBits; len(r.fp) != words {
		r.fp = make([]uint64, words)
	}
	as, err := base.ParseWords(r.fp, text, p.notation)
	if err != nil && bits == base.FingerprintBits {
		r.fp[0], as, err = base.ParseCell(text, p.notation)
	}
	if err != nil {
		r.widths, r.written = base.Widths(text, p.notation), text
		if p.notation != base.Base64 && isBase64(text) {
			return err.Error() + "; " + option.Set("Fingerprints", base.Base64) + " reads it"
		}
		return err.Error()
	}
	if r.one == nil {
		r.one = make([]engine.Fingerprint, 1)
	}
	r.one[0] = r.fp
	r.Doc.Fingerprints = r.one
	if p.notation == base.Auto {
		r.notation, r.written = as, text
	}
	return ""
}

// checkID completes and checks the ID of a record. It returns the reason if the ID is invalid, or
// "".
func (r *record) checkID(makeID bool) string {
	id := r.Doc.ID
	switch {
	case id == "" && makeID:
		r.Doc.ID = r.File + ":" + strconv.FormatInt(int64(r.Pos), 10)
	case id == "":
		return "the id is empty"
	case len(id) > base.MaxIDBytes:
		return fmt.Sprintf("the id has %d bytes; the limit is %d", len(id), base.MaxIDBytes)
	}
	return ""
}

// joinText appends another field to the text of a document.
func joinText(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n" + more
}

// quotedNames lists names for a message: "a", "b".
func quotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

var newline = []byte("\n")

// trimEOL returns raw without its line end, LF or CRLF.
func trimEOL(raw []byte) []byte {
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return bytes.TrimSuffix(raw, []byte("\r"))
}

// isBase64 reports whether a cell looks like a fingerprint in base64. It must contain =, which
// words do not end in.
func isBase64(cell []byte) bool {
	return bytes.IndexByte(cell, '=') > 0 && base.Widths(bytes.TrimSpace(cell), base.Base64)[0] > 0
}

// isWide reports whether a cell is a fingerprint of more than 64 bits.
func isWide(cell []byte, notation base.Notation) bool {
	widths := base.Widths(cell, notation)
	return max(widths[0], widths[1]) > base.FingerprintBits
}

// text parses plain text: each line is a document.
type text struct{}

func (text) parse(raw []byte, rec *record) string {
	rec.Doc.Text = records.ValidText(string(trimEOL(raw)))
	return rec.checkID(true)
}
