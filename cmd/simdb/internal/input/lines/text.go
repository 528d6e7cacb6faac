package lines

// text parses plain text: a line is a document.
type text struct{}

func (text) parse(raw []byte, rec *record) string {
	rec.Doc.Text = toValid(string(trimEOL(raw)))
	return rec.checkID(true)
}
