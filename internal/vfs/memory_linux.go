package vfs

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Memory returns the memory in bytes for this process and its cache of files: that of the machine,
// or of the process's control group if that is less. 0 means unknown.
var Memory = sync.OnceValue(func() int64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	own, _ := os.ReadFile("/proc/self/cgroup") // if this fails, use the groups at the root
	return groupLimit("/sys/fs/cgroup", own, int64(uint64(si.Totalram)*uint64(si.Unit)))
})

// groupLimit returns the minimum of n and the memory limits of a process's control groups, which
// are mounted at root. own is the content of /proc/self/cgroup: lines of number:controllers:path;
// the number is 0 for version 2. A container sees its own group at the root, whatever path is
// given; limits of parent groups apply, too.
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
