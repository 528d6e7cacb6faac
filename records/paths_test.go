package records

import "testing"

// TestTextAt follows paths into lists and objects.
func TestTextAt(t *testing.T) {
	const chat = `[{"role":"user","content":"a"},{"role":"tool"},{"content":null},{"content":"b\u00e9"},{"content":12.50}]`
	const parts = `[{"content":[{"type":"text","text":"a"},{"type":"image"}]},{"content":[{"text":"b"}]}]`
	const mixed = `["a ",{"type":"bold","text":"b"},"c"]`
	const some = `[{"content":"a"},{"content":[{"type":"text","text":"b"}]}]`
	for _, c := range []struct {
		value, path string
		want        string
		ok          bool
	}{
		{chat, ".content", "a\nbé\n12.50", true}, {chat, "[].content", "a\nbé\n12.50", true}, {chat, "", "", false},
		{chat, "[].nothing", "", true}, {chat, "[].content.x", "", false},
		{parts, "[].content[].text", "a\nb", true}, {parts, ".content.text", "a\nb", true}, {parts, "[].content", "", false},
		{`["a","",null,"b"]`, "", "a\nb", true}, {`["a","b"]`, "[]", "a\nb", true}, {`[["a"],["b"]]`, "", "a\nb", true}, {`[]`, ".x", "", true},
		{`[{"a.b":"x","a":{"b":"y"}}]`, "[].a.b", "x", true}, {`[{"a":{"b":"y"}}]`, "[].a.b", "y", true}, {`[1`, "", "", false},
		{mixed, "[].text", "a \nb\nc", true}, {mixed, "", "", false}, {some, "[].content[].text", "a\nb", true}, {some, "[].content", "", false},
		{`{"b":"x"}`, ".b.c", "", false}, {`{"b":"x"}`, ".b[].c", "x", true}, {`{"b":7}`, ".b[].c", "", false},
	} {
		if text, ok := TextAt([]byte(c.value), c.path); text != c.want || ok != c.ok {
			t.Errorf("%s at %q: %q, %v", c.value, c.path, text, ok)
		}
	}
	for value, want := range map[string]string{
		chat: "m[].content", parts: "m[].content[].text", `[]`: "", `{"b":"x","a":"y"}`: "m.a", `{"$oid":"1"}`: "m.$oid", `[{"n":1}]`: "",
		`[{"from":"human","value":"x"}]`: "m[].value", mixed: "m[].text", some: "m[].content[].text", `["a","b"]`: "m[]",
	} {
		if got := PathOfText([]byte(value), "m"); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
