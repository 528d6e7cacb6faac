package quantity

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Moment is a moment of this process, to a microsecond or less: a value of the performance
// counter. The clock of package time advances in steps of up to 16 ms on Windows, so that a search
// would take no time there, or 16 ms.
type Moment struct{ at int64 }

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

// Start returns the present moment.
func Start() Moment { return Moment{read(counter)} }

// Elapsed returns how long ago m was.
func (m Moment) Elapsed() time.Duration {
	steps := max(read(counter)-m.at, 0)
	hi, lo := bits.Mul64(uint64(steps), uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, uint64(frequency)) // a counter of 64 bits runs for a century
	return time.Duration(ns)
}
