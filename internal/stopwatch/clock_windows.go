package stopwatch

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// moment is a value of the performance counter.
type moment = int64

var (
	kernel32  = windows.NewLazySystemDLL("kernel32.dll")
	counter   = kernel32.NewProc("QueryPerformanceCounter")
	frequency = read(kernel32.NewProc("QueryPerformanceFrequency")) // steps of the counter a second
)

// read calls a function that stores a number. These two do not fail since Windows XP.
func read(proc *windows.LazyProc) (n int64) {
	proc.Call(uintptr(unsafe.Pointer(&n)))
	return n
}

func now() moment { return read(counter) }

func since(m moment) time.Duration {
	steps := max(now()-m, 0)
	hi, lo := bits.Mul64(uint64(steps), uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, uint64(frequency)) // a counter of 64 bits runs for a century
	return time.Duration(ns)
}
