package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder records whether a test would have failed.
type recorder struct {
	testing.TB
	said []any
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(_ string, a ...any) { r.said = a }

func TestCompare(t *testing.T) {
	defer func(was bool) { update = was }(update)
	update = false
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var r recorder
	if Compare(&r, path, "a\nb\nc\n"); r.said != nil {
		t.Error(r.said)
	}
	if Compare(&r, path, "a\nb\n"); len(r.said) != 4 || r.said[1] != 3 || !strings.HasPrefix(r.said[2].(string), "c\n") {
		t.Error(r.said)
	}
	if err := flag.Set("update", "true"); err != nil || !Update() {
		t.Fatal(err)
	}
	r = recorder{}
	if Compare(&r, path, "new"); r.said != nil {
		t.Error(r.said)
	}
	if text, err := os.ReadFile(path); string(text) != "new" {
		t.Error(string(text), err)
	}
}
