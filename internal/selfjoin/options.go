package selfjoin

import "runtime"

// Options are the options of the functions of this package. The zero value is ready for use.
type Options struct {
	// Workers is the number of goroutines that search; 0 means GOMAXPROCS. It affects neither
	// results nor their order.
	Workers int
	// OnlyKnown is true if documents join only known ones in star clusters.
	OnlyKnown bool
	// Progress, if not nil, is called now and then from the calling goroutine. Both numbers count
	// fingerprints, once for each pass that reads them.
	Progress func(done, total int64)
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
