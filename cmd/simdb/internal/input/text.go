package input

// text parses plain text: a line is a document.
type text struct{}

func (text) parse(raw []byte, rec *Record) string {
	rec.Doc.Text = toValid(string(trimEOL(raw)))
	return checkID(rec, true)
}
