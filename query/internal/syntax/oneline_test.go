package syntax

import "testing"

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"near('a', 3)\n  limit 3;\n":                                "near('a', 3) limit 3;",
		"NEAR('a',3) -- the first\n-- nothing\nAND\tID LIKE '--x';": "NEAR('a',3) AND ID LIKE '--x';",
		"PUT {\"id\": \"--\",  \"text\": 1};":                       "PUT {\"id\": \"--\",  \"text\": 1};",
		"COUNT; BEGIN;":                                             "COUNT; BEGIN;",
		"-- alone":                                                  "",
	} {
		if got, ok := vocabulary.OneLine(text); !ok || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"GET 'a\nb';", "GET 'a", "GET \"a\";"} {
		if got, ok := vocabulary.OneLine(text); ok {
			t.Errorf("%q is %q", text, got)
		}
	}
}
