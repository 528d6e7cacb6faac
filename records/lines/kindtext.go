package lines

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime/quotedprintable"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The IDs and texts of records of each kind. A record without a text, such as a comment or the
// header of a file, resembles no other, so copies always have it.

// readWhole returns the lines as they are.
func readWhole(lines []string) (id, text, reason string) { return "", strings.Join(lines, "\n"), "" }

// readFASTA returns the first word of the header, and the sequence as one word.
func readFASTA(lines []string) (id, text, reason string) {
	header, ok := strings.CutPrefix(lines[0], ">")
	if !ok {
		return "", "", ""
	}
	lines = slices.DeleteFunc(lines[1:], func(line string) bool { return strings.HasPrefix(line, ";") })
	return firstWord(header), strings.Join(strings.Fields(strings.Join(lines, " ")), ""), ""
}

func firstWord(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return words[0]
	}
	return ""
}

// readFASTQ is readFASTA for sequences with a quality for each letter.
func readFASTQ(lines []string) (id, text, reason string) {
	header, ok := strings.CutPrefix(lines[0], "@")
	if !ok {
		return "", "", "not FASTQ: it does not begin with @"
	}
	plus := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "+") })
	if plus < 0 {
		return "", "", "not FASTQ: no line begins with +"
	}
	join := func(lines []string) string { return strings.Join(strings.Fields(strings.Join(lines, " ")), "") }
	sequence, quality := join(lines[1:plus]), join(lines[plus+1:])
	if len(sequence) != len(quality) {
		return "", "", fmt.Sprintf("not FASTQ: the sequence has %d letters and the quality %d", len(sequence), len(quality))
	}
	return firstWord(header), sequence, ""
}

// unfold joins each line that begins with white space to the line before it and, as in vCard 2.1,
// each line that follows a soft line end of quoted-printable.
func unfold(lines []string) (whole []string) {
	for _, line := range lines {
		last := len(whole) - 1
		soft := last >= 0 && strings.HasSuffix(whole[last], "=") && strings.Contains(strings.ToUpper(whole[last]), "QUOTED-PRINTABLE")
		switch {
		case soft:
			whole[last] = whole[last][:len(whole[last])-1] + strings.TrimLeft(line, " \t")
		case last >= 0 && line != "" && (line[0] == ' ' || line[0] == '\t'):
			whole[last] += line[1:]
		default:
			whole = append(whole, line)
		}
	}
	return whole
}

// property matches a property of a vCard: its name, its parameters and its value.
var property = regexp.MustCompile(`^(?:[\w-]+\.)?([\w-]+)((?:;(?:"[^"]*"|[^":])*)*):(.*)$`)

// notText matches properties that do not describe a contact, or that are no text.
var notText = regexp.MustCompile(`^(?i:BEGIN|END|VERSION|UID|REV|PRODID|PHOTO|LOGO|SOUND|KEY)$`)

var vCardText = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`, ";", " ")

// readVCard returns the UID and the values of properties.
func readVCard(lines []string) (id, text, reason string) {
	var values []string
	for _, line := range unfold(lines) {
		m := property.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if strings.EqualFold(m[1], "UID") {
			id = strings.TrimSpace(m[3])
		}
		if notText.MatchString(m[1]) {
			continue
		}
		if strings.Contains(strings.ToUpper(m[2]), "QUOTED-PRINTABLE") {
			decoded, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(m[3])))
			m[3] = strings.ToValidUTF8(string(decoded), "\ufffd")
		}
		values = append(values, vCardText.Replace(m[3]))
	}
	return id, strings.Join(values, "\n"), ""
}

// markup matches markup within subtitles: <i>, {\an8}.
var markup = regexp.MustCompile(`</?[a-zA-Z0-9:][^>]*>|\{\\[^}]*\}`)

// readSubtitle returns what follows the times.
func readSubtitle(lines []string) (id, text, reason string) {
	times := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "-->") })
	if times < 0 {
		return "", "", ""
	}
	return "", markup.ReplaceAllString(strings.Join(lines[times+1:], "\n"), ""), ""
}

// readLDIF returns the dn and the values of the other attributes.
func readLDIF(lines []string) (id, text, reason string) {
	var values []string
	for _, line := range unfold(lines) {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") || strings.EqualFold(name, "version") {
			continue
		}
		if encoded, ok := strings.CutPrefix(value, ":"); ok {
			value = encoded
			if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded)); err == nil {
				value = strings.ToValidUTF8(string(decoded), "\ufffd")
			}
		}
		if value = strings.TrimSpace(value); strings.EqualFold(name, "dn") {
			id = value
		} else {
			values = append(values, value)
		}
	}
	return id, strings.Join(values, "\n"), ""
}

// readPO returns the message and its translations. The header, which translates the empty message,
// has no text.
func readPO(lines []string) (id, text, reason string) {
	var texts []string
	for _, line := range lines {
		word, quoted, _ := strings.Cut(strings.TrimSpace(line), `"`)
		if strings.HasPrefix(word, "#") || word == "" && len(texts) == 0 {
			continue
		}
		s, err := strconv.Unquote(`"` + quoted)
		if err != nil {
			s = strings.TrimSuffix(quoted, `"`)
		}
		switch {
		case word == "":
			texts[len(texts)-1] += s
		case strings.HasPrefix(word, "msgctxt"):
			texts = []string{""}
		case strings.HasPrefix(word, "msgid "):
			texts = []string{s}
		default:
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 || texts[0] == "" {
		return "", "", ""
	}
	return "", strings.Join(texts, "\n"), ""
}

// readPGN returns the values of the tags, and the moves.
func readPGN(lines []string) (id, text, reason string) {
	for i, line := range lines {
		if m := tag.FindStringSubmatch(line); m != nil {
			lines[i] = m[2]
		}
	}
	return readWhole(lines)
}

// articleID matches the id of an article of wikiextractor.
var articleID = regexp.MustCompile(`(?i)^<doc id="?([^">\s]*)`)

// readArticle returns the id, and the lines between the tags.
func readArticle(lines []string) (id, text, reason string) {
	m := articleID.FindStringSubmatch(lines[0])
	if m == nil {
		return "", "", ""
	}
	text, _, _ = strings.Cut(strings.Join(lines[1:], "\n"), "\n</doc>")
	return m[1], text, ""
}

// readFortune returns the lines after the separator.
func readFortune(lines []string) (id, text, reason string) {
	if strings.HasPrefix(lines[0], "%") {
		lines = lines[1:]
	}
	return readWhole(lines)
}
