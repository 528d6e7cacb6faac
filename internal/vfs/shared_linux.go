package vfs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const futexWait, futexWake = 0, 1

// Wait implements SharedMemory with a futex.
func (s *diskShared) Wait(word int, old uint64) {
	limit := unix.NsecToTimespec(longestWait.Nanoseconds())
	s.futex(word, futexWait, uint32(old), unsafe.Pointer(&limit))
}

// Wake implements SharedMemory.
func (s *diskShared) Wake(word int) { s.futex(word, futexWake, 1, nil) }

// futex ignores errors: the caller of Wait checks the word, and waits again.
func (s *diskShared) futex(word, operation int, value uint32, limit unsafe.Pointer) {
	half := uintptr(0)
	if !littleEndian {
		half = 4
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.Words()[word]))+half, uintptr(operation), uintptr(value), uintptr(limit), 0, 0)
}

var littleEndian = func() bool { one := uint16(1); return *(*byte)(unsafe.Pointer(&one)) == 1 }()

// networks are the network file systems of Linux, by the type that statfs returns.
var networks = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS", unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_FS_MAGIC: "AFS", unix.AFS_SUPER_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda",
	unix.OCFS2_SUPER_MAGIC: "OCFS2", 0x0bd00bd0: "Lustre", 0x01161970: "GFS2", 0x47504653: "GPFS", 0x19830326: "BeeGFS",
}

// fstatfs is the system call, which tests replace.
var fstatfs = unix.Fstatfs

// networkOf returns the name of the network file system of an open file, or "".
func networkOf(fd int) string {
	var st unix.Statfs_t
	if fstatfs(fd, &st) != nil {
		return ""
	}
	return networks[int64(uint32(st.Type))]
}
