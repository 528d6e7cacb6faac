package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGroupLimit uses artificial trees of control groups of both versions.
func TestGroupLimit(t *testing.T) {
	const machine = 16 << 30
	for _, c := range []struct {
		name, own string
		files     map[string]string
		want      int64
	}{
		{"no groups", "", nil, machine},
		{"no limit", "0::/user.slice\n", map[string]string{"memory.max": "max\n", "user.slice/memory.max": "max\n"}, machine},
		{"a container", "0::/\n", map[string]string{"memory.max": "536870912\n"}, 512 << 20},
		{"a container that sees the path outside", "0::/docker/abc\n", map[string]string{"memory.max": "536870912\n"}, 512 << 20},
		{"a service", "0::/system.slice/a.service\n", map[string]string{"system.slice/a.service/memory.max": "1073741824\n"}, 1 << 30},
		{"a group around it", "0::/system.slice/a.service\n", map[string]string{
			"system.slice/a.service/memory.max": "max\n", "system.slice/memory.max": "1073741824\n",
		}, 1 << 30},
		{"another's group", "0::/b.service\n", map[string]string{"a.service/memory.max": "1073741824\n"}, machine},
		{"version 1", "5:cpu:/\n4:memory:/x/y\n0::/\n", map[string]string{
			"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/x/y/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		{"a container of version 1", "4:memory:/x/y\n", map[string]string{"memory/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		{"more than the machine has", "0::/\n", map[string]string{"memory.max": "99999999999999\n"}, machine},
		{"nonsense", "0\n::\n0::../../x\n", map[string]string{"memory.max": "", "x/memory.max": "-1\n"}, machine},
	} {
		root := t.TempDir()
		for path, content := range c.files {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := groupLimit(root, []byte(c.own), machine); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if n := Memory(); n <= 0 {
		t.Errorf("Memory() = %d on a system that says it", n)
	}
}
