package repl

import "testing"

// A command that only reads opens the database for reading, whatever words its texts and comments
// contain.
func TestWrites(t *testing.T) {
	for text, want := range map[string][2]bool{
		"COUNT NEAR(TEXT 'input computer', 20)": {false, true}, "GET 'DELETE'; COUNT -- PUT": {false, true}, "EXPLAIN NEAR(0, 3)": {false, true}, ".mode put": {false, true},
		"COUNT; delete 'a'": {true, true}, "PUT {\"id\": \"a;\"};": {true, true}, ".read x": {false, false}, "PUTT 'a'": {false, true}, "": {false, true},
		".flush": {true, true}, " .ALLOW a b": {true, true}, ".allowed": {false, true}, "COUNT;\n.compact": {true, true}, "COUNT;\n.import x\nPUT {}": {true, false},
	} {
		if writes, known := Writes(text); writes != want[0] || known != want[1] {
			t.Errorf("%s writes: %v, known: %v", text, writes, known)
		}
	}
}
