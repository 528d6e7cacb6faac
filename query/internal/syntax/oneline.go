package syntax

import "strings"

// OneLine returns statements as a user could have typed them on one line: without comments, and
// with one space for each run of blanks. It returns false if the text has a lexical error, or a
// string that spans lines.
func (l *Language) OneLine(text string) (string, bool) {
	tokens, err := l.lex(text)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	end := 0
	for _, t := range tokens[:len(tokens)-1] { // the last is EOF
		at := t.Pos.Offset
		if b.Len() > 0 && at > end {
			b.WriteByte(' ')
		}
		end = at + len(t.Value)
		b.WriteString(text[at:end]) // not Value, which has keywords in capitals
	}
	line := b.String()
	return line, !strings.ContainsAny(line, "\n\r")
}
