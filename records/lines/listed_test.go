package lines

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// TestListedTexts reads texts in lists and objects by paths. The message for a field that is a list
// of objects gives a usable path.
func TestListedTexts(t *testing.T) {
	const chat = `{"id":1,"messages":[{"role":"user","content":"one two"},{"role":"x","content":"three"}],"pages":["p","q"]}` + "\n"
	for _, c := range []struct {
		opt  records.Options
		want string // the text, or the error
	}{
		{records.Options{TextField: "messages[].content"}, "one two\nthree"},
		{records.Options{TextField: "messages.content"}, "one two\nthree"},
		{records.Options{TextField: "pages"}, "p\nq"},
		{records.Options{TextField: "pages[],messages[].role"}, "p\nq\nuser\nx"},
		{records.Options{Fields: []string{"pages", "messages.role"}}, "p\nq\x1fuser\nx"},
		{records.Options{TextField: "messages"}, `"messages" is a list: TextField: "messages[].content" reads its contents`},
		{records.Options{TextField: "pages.x"}, `"pages.x" is a list: TextField: "pages[]" reads its contents`},
		{records.Options{}, `(its fields are "id", "messages[].role", "messages[].content", "pages"; did you mean "messages[].content"?)`},
	} {
		got, f, err := read(t, "a.jsonl", chat, c.opt)
		if err != nil {
			got = []string{err.Error()}
		}
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%+v: %q, %v", c.opt, got, err)
		}
		if err == nil && c.opt.Fields == nil && !strings.Contains(c.opt.TextField, ",") && f.CanCut() == nil {
			t.Errorf("%+v: texts of lists can be cut", c.opt)
		}
	}
}
