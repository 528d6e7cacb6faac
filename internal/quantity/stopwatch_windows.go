package quantity

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Moment is a point in time of this process, with a resolution of at most a microsecond: a value
// of the performance counter. The clock of package time advances in steps of up to 16 ms on
// Windows, so a search would seem to last 0 or 16 ms.
type Moment struct{ at int64 }

var (
	kernel32  = windows.NewLazySystemDLL("kernel32.dll")
	counter   = kernel32.NewProc("QueryPerformanceCounter")
	frequency = read(kernel32.NewProc("QueryPerformanceFrequency")) // counter steps per second
)

// read calls a function that stores a number. The two functions have not failed since Windows XP.
func read(proc *windows.LazyProc) (n int64) {
	proc.Call(uintptr(unsafe.Pointer(&n)))
	return n
}

// Start returns the current moment.
func Start() Moment { return Moment{read(counter)} }

// Elapsed returns the time since m.
func (m Moment) Elapsed() time.Duration {
	steps := max(read(counter)-m.at, 0)
	hi, lo := bits.Mul64(uint64(steps), uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, uint64(frequency)) // a 64-bit counter does not overflow for a century
	return time.Duration(ns)
}
