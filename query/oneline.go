package query

import "strings"

// OneLine returns statements as they could have been typed on one line: without comments, and with one space for every run of blanks.
// It is false for a text that can't be cut into words, or that has a string over several lines.
func OneLine(text string) (string, bool) {
	tokens, err := lex(text)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	end := 0
	for _, t := range tokens[:len(tokens)-1] { // the last is the end of the text
		at := t.Pos.Offset
		if b.Len() > 0 && at > end {
			b.WriteByte(' ')
		}
		end = at + len(t.Value)
		b.WriteString(text[at:end]) // as it was written: keywords among the tokens are in capitals
	}
	line := b.String()
	return line, !strings.ContainsAny(line, "\n\r")
}
