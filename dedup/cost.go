package dedup

import (
	"runtime"
	"time"

	"github.com/simdb/simdb/internal/corpus"
)

// Cost estimates, for a Job by Jaccard on documents with that many bytes of text, the processor
// time, how many of the memory bytes it uses, and the bytes of its temporary files. Memory use
// peaks when as many sets as fit are in memory beside the counters of their elements. The garbage
// collector lets the heap grow to twice the live bytes, up to a limit.
func Cost(documents, texts, memory int64) (cpu time.Duration, held, disk int64) {
	const onPass = 6 << 20 // bytes in the pipelines, for each processor
	sets := texts          // about 8 bytes for each of its words
	held = min(sets, memory/4) + corpus.CounterBytes(memory, texts) + 5*documents
	held = min(2*held, max(memory/8*7, 64<<20)) + int64(runtime.GOMAXPROCS(0))*onPass
	return time.Duration(4000*documents + 18*texts), held, max(0, sets-memory/4)
}
