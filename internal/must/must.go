// Package must ends a test if a call fails. Only tests may import it.
package must

import "testing"

// Do ends the test if err is an error: must.Do(t, db.Flush(ctx)).
func Do(t testing.TB, err error) {
	if err != nil {
		t.Helper() // needs a microsecond, too long for each document of a loop that succeeds
		t.Fatal(err)
	}
}

// Get returns a function that returns v, or ends the test if err is an error:
// must.Get(db.Get(ctx, id))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}
