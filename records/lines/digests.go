package lines

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// digest is a kind of hash that simdb does not read as a fingerprint. As words, two such hashes are
// similar only if they are equal.
type digest struct {
	form *regexp.Regexp // matches a whole cell
	what string         // in messages, after "its lines have"
	todo string
	by   string // name of an option, for %s in todo
}

// advice returns the advice for the user.
func (d *digest) advice() string { return strings.Replace(d.todo, "%s", option.Name(d.by), 1) }

const asStrings = "%s compares them as strings"

// digests are the known kinds, most specific first. In columns, hexadecimal values may be
// fingerprints.
var digests = []*digest{
	{regexp.MustCompile(`^[Tt]1[0-9A-Fa-f]{70}$|^[0-9A-Fa-f]{70}$`), "TLSH digests", asStrings, "Levenshtein"},
	{regexp.MustCompile(`^(3|6|12|24|48|96|192|384|768|1536|3072|6144|12288|24576|49152|98304|196608|393216|786432|1572864):[0-9A-Za-z+/]{3,}:[0-9A-Za-z+/]{3,}$`), "ssdeep digests", asStrings, "Levenshtein"},
	{regexp.MustCompile(`^sdbf(-dd)?:[0-9]{2}:.*:[A-Za-z0-9+/=]+$`), "sdhash digests", "sdhash -c compares them", ""},
	{regexp.MustCompile(`^-?[0-9]{10,20}L$`), "numbers that end in L, as Python 2 shows them", "write them without the L", ""},
	{regexp.MustCompile(`^[01]{64,}$`), "strings of bits", "fingerprints have a multiple of 64 bits, up to 1,024; %s names their field", "FingerprintField"},
	{regexp.MustCompile(`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){7,}$`), "bytes between colons", "write only the hexadecimal digits", ""},
	{regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,9}:[0-9A-Fa-f]{8,}$`), "hashes after a prefix", "write only the hexadecimal digits, or put them after an id and a tab", ""},
	{regexp.MustCompile(`^-?[0-9]{17,20}$`), "numbers of 64 bits", "", ""},
	{regexp.MustCompile(`^(0[xX])?[0-9A-Fa-f]*[A-Fa-f][0-9A-Fa-f]*$|^[0-9]{32,}$`), "hexadecimal hashes", "fingerprints have a multiple of 64 bits, up to 1,024, in the field that %s names; checksums detect only equality", "FingerprintField"},
}

var numberDigest, hexDigest = digests[len(digests)-2], digests[len(digests)-1]

// leastHex is the minimum number of digits of a hash. A cell with fewer digits may be a word.
const leastHex = 16

// digestOf returns the kind of digest in a cell, or nil if the cell is not a digest.
func digestOf(cell []byte) *digest {
	cell = bytes.Trim(cell, " \"'\r")
	if len(cell) < 5 || bytes.IndexByte(cell, ' ') >= 0 {
		return nil
	}
	for _, d := range digests {
		if d.form.Match(cell) && (d != hexDigest || len(cell) >= leastHex) {
			return d
		}
	}
	return nil
}

// digestIn returns the kind of digest in one of the columns of a line, and the digest. A digest
// that is followed by several words after a single blank belongs to a text, and does not count.
func digestIn(line []byte) (*digest, []byte) {
	if d := digestOf(line); d != nil {
		return d, line
	}
	cells := bytes.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ';' || r == ',' || r == '|' })
	if words := bytes.Fields(line); len(words) > 1 {
		rest := bytes.TrimPrefix(line, words[0])
		special := digestOf(words[0])
		if len(words) == 2 || special != nil && special != hexDigest && special != numberDigest || bytes.HasPrefix(rest, []byte("  ")) || bytes.HasPrefix(rest, []byte(" *")) {
			cells = append(cells, words[0])
		}
		cells = append(cells, words[len(words)-1])
	}
	for _, cell := range cells {
		cell = bytes.Trim(cell, " \"'\r")
		if d := digestOf(cell); d != nil && (d != numberDigest || isPair(columnsBeside(line, cell))) {
			return d, cell
		}
	}
	return nil, nil
}

// isPair reports whether there are exactly two columns, and neither is a text.
func isPair(columns [][]byte) bool {
	return len(columns) == 2 && !slices.ContainsFunc(columns, func(c []byte) bool { return len(bytes.Fields(c)) > 1 })
}

// digestBesideID reports whether a line consists of a digest and one word.
func digestBesideID(line []byte) bool {
	_, cell := digestIn(line)
	return cell != nil && isPair(columnsBeside(line, cell))
}

// columnsBeside splits a line at the separator before a cell, or else after it. It returns nil if
// the character there is not a separator.
func columnsBeside(line, cell []byte) [][]byte {
	before, after, _ := bytes.Cut(line, cell)
	before, after = bytes.TrimRight(before, " \"'"), bytes.TrimLeft(after, " \"'\r")
	sep := []byte(nil)
	switch {
	case len(before) > 0:
		sep = before[len(before)-1:]
	case len(after) > 0:
		sep = after[:1]
	}
	if len(sep) == 0 || bytes.IndexByte([]byte(";,|\t"), sep[0]) < 0 {
		return nil
	}
	return bytes.Split(line, sep)
}

// mostly returns the kind of digest that find returns for 9 of 10 texts, and the first digest; the
// first text may be a header. It returns nil if there is no such kind.
func mostly(texts [][]byte, find func([]byte) (*digest, []byte)) (kind *digest, first []byte) {
	n := 0
	texts = slices.DeleteFunc(slices.Clone(texts), func(text []byte) bool { return len(text) > 0 && (text[0] == '#' || text[0] == '%') }) // comments
	for i, text := range texts {
		d, cell := find(text)
		switch {
		case d == nil && i == 0 && len(texts) > 1:
			n++ // a header
		case d != nil && kind == nil:
			kind, first = d, cell
			n++
		case d != nil && d == kind:
			n++
		}
	}
	if 10*n < 9*len(texts) {
		return nil, nil
	}
	return kind, first
}

// refuseDigests returns an error if the lines are a list of digests. In files of columns it accepts
// digests that could be fingerprints, because the user can select that column.
func refuseDigests(lines [][]byte, columns bool) error {
	d, first := mostly(lines, digestIn)
	readable := base.Widths(first, base.Auto)[0] > 0
	if d == nil || columns && readable {
		return nil
	}
	todo := d.advice()
	if readable {
		todo = "write each on a line of its own, or after an id and a tab" + inColumns(lines, first)
	}
	if isWide(first, base.Auto) {
		todo += "; checksums detect only equality"
	}
	return fmt.Errorf("its lines have %s, such as %q: %s; %s", d.what, records.Short(string(first)), todo, records.AsText())
}

// inColumns returns the options that read the lines as columns with the fingerprint at cell, or ""
// if no separator is next to the cell.
func inColumns(lines [][]byte, cell []byte) string {
	for _, line := range lines {
		i := bytes.Index(line, cell)
		if i < 0 {
			continue
		}
		columns := columnsBeside(line, cell)
		if len(columns) < 2 {
			return ""
		}
		sep := line[len(columns[0])]
		fp := 1 + bytes.Count(line[:i], []byte{sep})
		return fmt.Sprintf("; %s reads columns", option.All(option.Set("Delimiter", sep), option.Name("NoHeader"),
			option.Set("IDField", strconv.Itoa(1+1/fp)), option.Set("FingerprintField", strconv.Itoa(fp))))
	}
	return ""
}

// WarnOfDigests returns a notice for texts that are digests, or "".
func WarnOfDigests(texts [][]byte) string {
	d, first := mostly(texts, func(text []byte) (*digest, []byte) { return digestOf(text), text })
	if d == nil {
		return ""
	}
	return fmt.Sprintf("its texts are %s, such as %q, which are compared as words: %s", d.what, records.Short(string(first)), d.advice())
}

// notTaken returns the error for a file without fingerprints although the user set their notation.
func notTaken(opt records.Options, lines [][]byte) error {
	said := option.Set("Fingerprints", opt.Fingerprints)
	if d, first := mostly(lines, digestIn); d != nil {
		return fmt.Errorf("%s: its lines have %s, such as %q: %s", said, d.what, records.Short(string(first)), d.advice())
	}
	line := ""
	if len(lines) > 0 {
		line = records.Short(string(lines[0]))
	}
	return fmt.Errorf("%s: most lines, such as %q, have no fingerprint", said, line)
}
