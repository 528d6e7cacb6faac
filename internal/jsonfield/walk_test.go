package jsonfield

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestText follows paths of options to texts.
func TestText(t *testing.T) {
	const chat = `[{"role":"user","content":"a"},{"role":"tool"},{"content":null},{"content":"b\u00e9"},{"content":12.50}]`
	const parts = `[{"content":[{"type":"text","text":"a"},{"type":"image"}]},{"content":[{"text":"b"}]}]`
	const mixed = `["a ",{"type":"bold","text":"b"},"c"]`
	const some = `[{"content":"a"},{"content":[{"type":"text","text":"b"}]}]`
	const tree = `{"z":{"id":"z","message":null},"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x","y"]}}},` +
		`"b":{"id":"b","message":{"content":{"parts":["z",{"asset":"1"}]}}}}`
	for _, c := range []struct {
		value, path string
		want        string
		ok          bool
	}{
		{chat, "content", "a\nbé\n12.50", true}, {chat, "[].content", "a\nbé\n12.50", true}, {chat, "", "", false},
		{chat, "[].nothing", "", true}, {chat, "[].content.x", "", false}, {chat, "*.content", "a\nbé\n12.50", true},
		{parts, "[].content[].text", "a\nb", true}, {parts, "content.text", "a\nb", true}, {parts, "[].content", "", false},
		{`["a","",null,"b"]`, "[]", "a\nb", true}, {`["a","b"]`, "[]", "a\nb", true}, {`[["a"],["b"]]`, "[]", "a\nb", true}, {`[]`, "x", "", true},
		{`[{"a.b":"x","a":{"b":"y"}}]`, "[].a.b", "x", true}, {`[{"a":{"b":"y"}}]`, "[].a.b", "y", true},
		{mixed, "[].text", "a \nb\nc", true}, {mixed, "[]", "", false}, {some, "[].content[].text", "a\nb", true}, {some, "[].content", "", false},
		{`{"b":"x"}`, "b.c", "", false}, {`{"b":"x"}`, "b[].c", "x", true}, {`{"b":7}`, "b[].c", "", false},
		{tree, "*.message.content.parts[]", "", false}, {tree, "*.message.content.parts[].text", "x\ny\nz", true}, {tree, "*.message.author.role", "user", true}, {tree, "*.id", "z\na\nb", true},
		{`{"*":"star","a":"x"}`, "*", "star", true}, {`{"b":"y","a":"x"}`, "*", "y\nx", true}, {`{"a.*.b":"x"}`, "a.*.b", "x", true},
		{`{"a":{"b.c":{"d":"x"}}}`, "a.b.c.d", "x", true}, {`{"a":{"b.c":"x"}}`, "a.'b.c'", "x", true}, {`{"a":{"it's":"x"}}`, "a.'it''s'", "x", true},
		{`{"a.b":1,"a":{"b":{"c":"x"}}}`, "a.b.c", "x", true}, {`{"a":{"b.c":"y"},"a.b":{"c":"x"}}`, "a.b.c", "x", true},
		{`{"a[]":"x"}`, "a[]", "x", true}, {`{"'q'":"x"}`, "'q'", "x", true}, {`{"a.":"x"}`, "a.", "x", true}, {` {"a": [ ] }`, "a[]", "", true},
	} {
		value, path := c.value, Parse(c.path)
		if c.path == "" {
			path = Path{}
		}
		text, ok := path.Text([]byte(value))
		if ok != c.ok || ok && text != c.want {
			t.Errorf("%s at %q: %q, %v", c.value, c.path, text, ok)
		}
		if path.String() != c.path {
			t.Errorf("%q is written %q", c.path, path.String())
		}
	}
	for value, want := range map[string]string{
		chat: "m[].content", parts: "m[].content[].text", `[]`: "", `{"b":"x","a":"y"}`: "m.b", `{"$oid":"1"}`: "m.$oid", `[{"n":1}]`: "",
		`[{"from":"human","value":"x"}]`: "m[].value", mixed: "m[].text", some: "m[].content[].text", `["a","b"]`: "m[]", `7`: "",
		tree: "m.*.message.content.parts[]", `{"author":{"name":"x"},"meta":{"content":{"type":"x","text":"y"}}}`: "m.meta.content.text",
	} {
		if got := PathOfText([]byte(value), "m"); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	if got, want := strings.Join(Names([]byte(`{"m":`+tree+`,"x":{"y.z":[1]},"l":[{"a":1},{"b":{}}]}`)), " "),
		"m.*.id m.*.message.author.role m.*.message.content.content_type m.*.message.content.parts m.*.message.content.parts[].asset x.y.z l[].a"; !strings.HasPrefix(got, want) {
		t.Errorf("the names are %s, want %s", got, want)
	}
}

// TestIs compares paths with the keys of fields.
func TestIs(t *testing.T) {
	for path, want := range map[string][3]bool{"*": {true, false, false}, "'*'": {true, true, false}, "'a.b'": {false, false, true}, "a.b": {false, false, true}, "'a'.b": {}} {
		p := Parse(path)
		if got := [3]bool{p.Is("*"), p.Is("'*'"), p.Is("a.b")}; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// TestPathOf finds single values, and lists of several.
func TestPathOf(t *testing.T) {
	const doc = `{"a":{"b":1,"c":[{"d":2},{"d":"x"},{"d":null},3]},"a.b":7,"n":null}`
	for _, c := range []struct{ path, of, exact string }{
		{"a.b", "7", "1"}, {"a.c", `[{"d":2},{"d":"x"},{"d":null},3]`, `[{"d":2},{"d":"x"},{"d":null},3]`}, {"n", "", ""}, {"a.x", "", ""},
		{"a.b.x", "", ""}, {"a.c[].d", "", `[2,"x"]`}, {"a.c.d", "", ""}, {"a.*", "", `[1,[{"d":2},{"d":"x"},{"d":null},3]]`}, {"a.c[].e", "", ""},
	} {
		if got := string(Parse(c.path).Of([]byte(doc))); got != c.of {
			t.Errorf("%s: %q, want %q", c.path, got, c.of)
		}
		parts, rest := Cut(c.path)
		if got := string(Exact(parts).All([]byte(doc))); got != c.exact || rest != "" || JoinPath(parts) != c.path {
			t.Errorf("%s in a statement: %q, want %q; rest %q, written %q", c.path, got, c.exact, rest, JoinPath(parts))
		}
	}
	if parts, _ := Cut("a.'*'.'[]'"); !slices.Equal(parts, []string{"a", "*", "[]"}) || JoinPath(parts) != "a.'*'.'[]'" {
		t.Errorf("quoted: %q", parts)
	}
	for _, list := range []string{"a[].b", "a.*"} {
		if _, err := Canonical(list); err == nil || !strings.Contains(err.Error(), "several values") {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// The time of Names grows with the size of an object, not with its square.
func TestNamesOfWideObject(t *testing.T) {
	object := []byte("{")
	const n = 200_000
	for i := range n {
		object = fmt.Appendf(object, `"k%d":%d,`, i, i)
	}
	object[len(object)-1] = '}'
	start := time.Now()
	if got := Names(object); len(got) != n || got[1] != "k1" {
		t.Fatalf("%d names", len(got))
	}
	if took := time.Since(start); took > 10*time.Second { // it took 35 s with a search in a list
		t.Errorf("%v", took)
	}
}
