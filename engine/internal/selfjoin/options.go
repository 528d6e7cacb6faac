package selfjoin

import "runtime"

// Options are the options of the functions of this package. The zero value is fine.
type Options struct {
	// Workers is the number of goroutines that search; 0 means GOMAXPROCS. It changes no result and
	// no order.
	Workers int
	// Progress, if not nil, is called now and then from the calling goroutine: total is the work to
	// do, in fingerprints times passes over them, and done what is behind.
	Progress func(done, total int64)
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
