package vfs

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the system's sysinfoapi.h.
type memoryStatus struct {
	length, load                                    uint32
	total, available, totalPage, availablePage      uint64
	totalVirtual, availableVirtual, availableExtend uint64
}

// Memory returns the machine's memory in bytes; 0 means unknown.
var Memory = sync.OnceValue(func() int64 {
	s := memoryStatus{}
	s.length = uint32(unsafe.Sizeof(s))
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx").Call(uintptr(unsafe.Pointer(&s)))
	if ok == 0 {
		return 0
	}
	return int64(s.total)
})
