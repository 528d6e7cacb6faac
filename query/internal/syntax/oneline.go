package syntax

import "strings"

// OneLine returns statements as they could have been typed on one line: without comments, and with
// one space for every run of blanks. It returns false if the text has an error of the lexer, or a
// string over several lines.
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
		b.WriteString(text[at:end]) // and not Value, whose keywords are in capitals
	}
	line := b.String()
	return line, !strings.ContainsAny(line, "\n\r")
}
