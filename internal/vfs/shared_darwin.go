package vfs

import "golang.org/x/sys/unix"

// networkOf returns the name of the network file system of an open file, or "": a volume that is
// not local has no MNT_LOCAL.
func networkOf(fd int) string {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(st.Fstypename[:])
}
