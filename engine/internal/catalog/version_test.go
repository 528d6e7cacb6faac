package catalog

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// registerVersion2 registers a version 2, which stores marks negated.
func registerVersion2(t *testing.T) {
	formats[2] = format{
		fixed: decodeFixed,
		record: func(s *State, key, payload []byte) error {
			if err := s.decode(key, payload); err != nil {
				return err
			}
			if source, ok := strings.CutPrefix(string(key), prefixMark); ok {
				s.Marks[source] = -s.Marks[source]
			}
			return nil
		},
	}
	t.Cleanup(func() { delete(formats, 2) })
}

// TestNextVersion reads a catalog of version 2 beside the golden ones of version 1, changes it in
// its own version, and refuses it by name if version 2 is unknown.
func TestNextVersion(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	t.Run("known", func(t *testing.T) {
		registerVersion2(t)
		s := goldenState()
		s.FormatVersion = 2
		mustCreate(t, vfs.Disk, name, s)
		c, _ := mustOpen(t, vfs.Disk, name)
		must.Do(t, c.Apply(Edit{SetMarks: map[string]int64{"b.jsonl": 5}}))
		must.Do(t, c.Close())
		got, _, err := Read(vfs.Disk, name)
		must.Do(t, err)
		if got.FormatVersion != 2 || got.Marks["a.jsonl"] != -4096 || got.Marks["b.jsonl"] != -5 || len(got.Tables) != 1 {
			t.Errorf("version 2: %+v", got)
		}
		openGolden(t, goldenFile, goldenState())
	})
	_, _, err := Open(vfs.Disk, name)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version 2; this program reads 1") {
		t.Errorf("an unknown version: %v", err)
	}
}
