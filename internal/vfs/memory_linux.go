package vfs

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Memory returns how many bytes of memory there are for this process and its cache of files: those
// of the machine, or of the process's control group if that is less. 0 means unknown.
var Memory = sync.OnceValue(func() int64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	own, _ := os.ReadFile("/proc/self/cgroup") // without it, the groups at the root are asked
	return groupLimit("/sys/fs/cgroup", own, int64(uint64(si.Totalram)*uint64(si.Unit)))
})

// groupLimit returns the least of n and the memory limits of a process's control groups, which are
// mounted at root. Own is the process's /proc/self/cgroup: lines of number:controllers:path, the
// number 0 for version 2. A container sees its own group at the root, whatever path is said; the
// groups around one hold as well.
func groupLimit(root string, own []byte, n int64) int64 {
	least := func(folder, path, file string) {
		for {
			if b, err := os.ReadFile(filepath.Join(root, folder, path, file)); err == nil {
				if limit, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64); err == nil && limit > 0 {
					n = min(n, limit)
				}
			}
			if path == "/" {
				return
			}
			path = filepath.Dir(path)
		}
	}
	least("", "/", "memory.max")
	least("memory", "/", "memory.limit_in_bytes")
	for line := range bytes.Lines(own) {
		number, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		controllers, path, _ := bytes.Cut(rest, []byte(":"))
		switch clean := filepath.Join("/", string(path)); {
		case string(number) == "0":
			least("", clean, "memory.max")
		case string(controllers) == "memory":
			least("memory", clean, "memory.limit_in_bytes")
		}
	}
	return n
}
