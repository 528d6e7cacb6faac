package main

import "testing"

// Statements that only read open the database for reading, whatever words their texts and comments
// hold.
func TestMayWrite(t *testing.T) {
	for text, want := range map[string]bool{
		"COUNT NEAR(TEXT 'input computer', 20)": false, "GET 'DELETE'; STATS -- PRUNE": false, "EXPLAIN NEAR(0, 3)": false, ".mode put": false,
		"STATS; delete 'a'": true, "PUT {\"id\": \"a;\"};": true, "FLUSH": true, ".read x": false, "PUTT 'a'": false, "": false,
	} {
		if mayWrite(text) != want {
			t.Errorf("%s writes: %v", text, !want)
		}
	}
}
