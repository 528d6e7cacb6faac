package lines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// TestOddTables reads CSV and TSV from other programs. A copy of all records has the bytes of the
// file.
func TestOddTables(t *testing.T) {
	made := records.Options{MakeID: true}
	for _, c := range []struct {
		file, content string
		opt           records.Options
		want          []string
	}{
		{"a.csv", "sep=;\r\nid;text\r\n1;a, b\r\n", records.Options{}, []string{"3 1|a, b||"}},
		{"a.csv", "\"sep=\t\"\nid\ttext\n1\tx\n", records.Options{}, []string{"3 1|x||"}},
		{"a.csv", "sep=;\n1;x\n", records.Options{NoHeader: true}, []string{"2 1|x||"}},
		{"a.csv", "sep=,x\n", records.Options{TextField: "sep="}, nil},
		{"a.csv", "v1,text,,\nham,x,,z\n", made, []string{`2 a.csv:2|x|{"v1":"ham","3":"","4":"z"}|`}},
		{"a.csv", "id,text,n,n,n_2,n\n1,x,a,b,c,d\n", records.Options{}, []string{`2 1|x|{"n":"a","n_3":"b","n_2":"c","n_4":"d"}|`}},
		{"a.csv", "id,text,2,\n1,x,a,b\n", records.Options{}, []string{`2 1|x|{"2":"a","4":"b"}|`}},
		{"a.csv", "text,id,text\nx,1,y\n", records.Options{TextField: "3"}, []string{`2 1|y|{"text":"x"}|`}},
		{"a.csv", "id,text,n\n1,x\n2\n3,y,z\n", records.Options{}, []string{`2 1|x|{"n":""}|`, `3 2||{"n":""}|`, `4 3|y|{"n":"z"}|`}},
		{"a.csv", "id,text\n1,x,,\n2,y,\n", records.Options{}, []string{"2 1|x||", "3 2|y||"}},
		{"a.csv", "id,text\n1,x\n2,y,and more\n", made, []string{"2 1|x||", "3 a.csv:3|||~3 columns where the header has 2"}},
		{"a.csv", "id,text\n1,x\n2,y,and more\n", records.Options{}, []string{"2 1|x||", "3! 3 columns where the header has 2"}},
		{"a.csv", "\"text\",\"n\"\n\"r1\",\"x\",5\n\"r2\",\"y\",6\n", made, []string{`2 a.csv:2|x|{"1":"r1","n":"5"}|`, `3 a.csv:3|y|{"1":"r2","n":"6"}|`}},
		{"a.tsv", "text\tn\nr1\tx\t5\nr2\ty\t6\n", records.Options{IDField: "1"}, []string{`2 r1|x|{"n":"5"}|`, `3 r2|y|{"n":"6"}|`}},
		{"a.tsv", "id\ttext\tn\n1\t\\N\t\\N\n\\N\tx\t5\n", made, []string{`2 1||{"n":"\\N"}|`, `3 a.tsv:3|x|{"n":"5"}|`}},
		{"a.csv", "id,text,fingerprint\n1,x,\\N\n2,,what\n", records.Options{}, []string{"2 1|x||", `3 2|||~not a fingerprint: "what" is neither 16 hexadecimal digits nor a decimal number`}},
		{"a.csv", "id,text\n1,a\x00b\n", records.Options{}, []string{"2 1|a\x00b||"}},
	} {
		got, f, err := read(t, c.file, c.content, c.opt)
		if c.want == nil && err != nil {
			continue
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%q: %q, %v\nwant %q", c.content, got, err, c.want)
			continue
		}
		if copied := string(f.info.Columns); !strings.HasPrefix(c.content, copied) || copied == "" {
			t.Errorf("%q: the header of copies is %q", c.content, copied)
		}
	}
}

// A header may have very many columns: names are looked up in a map, not searched.
func TestWideHeader(t *testing.T) {
	const n = 300_000
	var header, row strings.Builder
	for i := range n {
		fmt.Fprintf(&header, "c%d,", i)
		row.WriteString("v,")
	}
	got, _, err := read(t, "a.csv", header.String()+"text\n"+row.String()+"x\n", records.Options{MakeID: true})
	if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], `2 a.csv:2|x|{"c0":"v","c1":"v",`) || strings.Count(got[0], ":") != n+1 {
		t.Errorf("%.200q, %v", got, err)
	}
}
