package lines

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// TestDividers has texts whose multi-line records repeat a separator, and texts of one document per
// line that have repeated lines.
func TestDividers(t *testing.T) {
	lots := func(n int, text string) string { return strings.Repeat(text, n) }
	line := func(n int) (text string) {
		for i := range n {
			text += "line " + string(rune('a'+i%26)) + lots(i, "x") + "\n"
		}
		return text
	}
	for text, want := range map[string]string{
		lots(3, line(3)+"%\n"):                                   "lines like % seem to separate its records: RecordStart: \"^%$\" reads",
		line(1) + "%\n" + line(2) + "%\r\n":                      "lines like %",
		lots(3, line(2)+"//\n\n"):                                "lines like //",
		lots(9, line(90)+"$$$$\n"):                               `lines like $$$$ seem to separate its records: RecordStart: "^\\$\\$\\$\\$$"`,
		lots(3, lots(3, line(1)+"~~~\n")+"***\n"):                "lines like ~~~",
		lots(4, line(1)+"***\n"+line(1)+"---\n"):                 "lines like ***",
		lots(4, "<item>\n"+line(2)+"</item>\n") + "</items>\n":   `RecordStart: "^\\s*<item\\b"`,
		lots(20, line(1)+"---\n") + "---\n":                      "lines like ---",
		lots(3, "Package: a\nVersion: 1\n\n"):                    `begin with "Package:": RecordStart: "^Package:"`,
		lots(30, "name : a\r\nsize: 1\r\n\r\n") + "The end\n":    `begin with "name :"`,
		"format-version: 1\n\n" + lots(20, "[Term]\nid: 1\n\n"):  `begin with "[": RecordStart: "^\\["`,
		lots(3, "Q:\nWhat?\nA: this\n\n\n"):                      `begin with "Q:"`,
		"":                                                       "",
		line(2) + "%\n" + line(2):                                "",
		lots(3, line(101)+"%\n"):                                 "", // rare
		lots(3, "---\nstop words\n") + line(20):                  "", // at the beginning
		lots(20, line(1)+"---\n") + lots(3, "---\n"):             "", // follows itself
		lots(9, "A title\n=======\n"+line(3)):                    "", // underlines
		lots(9, "ok\nno\n...\n"+line(2)+"?\n:)\n-\n[deleted]\n"): "",
		lots(9, "Ann\n"):                                         "",
		lots(3, "Package: a\n\n"):                                "", // one line per paragraph
		lots(2, "Package: a\nVersion: 1\n\n"):                    "",
		lots(3, "Package: a\nVersion: 1\n\nsome words\n\n"):      "",
		lots(9, "Ann: hello\nBob: hi\n"):                         "",
		lots(3, "http://example.org/\nx\n\n"):                    "",
	} {
		err := refuseRecords([]byte(text), true)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; "+records.AsText())) {
			t.Errorf("%.200q: %v, want %q", text, err, want)
		}
	}
	if err := refuseRecords([]byte(lots(3, "Package: a\nVersion: 1\n\n")), false); err != nil {
		t.Errorf("the last paragraph may go on: %v", err)
	}
}
