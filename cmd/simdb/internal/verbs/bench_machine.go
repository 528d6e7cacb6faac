package verbs

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/stopwatch"
	"github.com/simdb/simdb/internal/vfs"
)

// machine is what this machine can do at best, on one core, in memory of a given size: the least of
// a few short measurements of each. Times are in nanoseconds.
type machine struct {
	latency     float64 // a random cache line, whose place the one before it says
	line        float64 // the same where many are on their way at once
	span        float64 // a line of spans of spanLines at random places, of which many are on their way
	byte        float64 // of memory that is read in order
	compare     float64 // a fingerprint with one query, in a near cache
	compareMany float64 // a fingerprint with each of many queries, in a near cache
	decode      float64 // a key of a block of a run, in a near cache
	move        float64 // an item of moveBytes bytes, to its place in the order of a digit of moveBits bits
}

const (
	cacheLine   = 64
	spanLines   = 8
	chaseRounds = 5
	// the memory measured is as large as the index, within these
	chaseLeast, chaseMost = 1 << 20, 1 << 30

	moveBytes, moveBits = 16, 8
	moved               = 1 << 20 // items, at most
)

// least returns the least time of one of n steps that f does, in a few calls.
func least(n int, f func()) float64 {
	best := 0.0
	for round := range chaseRounds {
		start := stopwatch.Start()
		f()
		if ns := float64(start.Elapsed()) / float64(n); round == 0 || ns < best {
			best = ns
		}
	}
	return best
}

// measureMachine measures the machine in memory of a size, in about a second.
func measureMachine(size int64) (m machine) {
	lines := max(min(size, chaseMost), chaseLeast) / cacheLine
	data, free := vfs.LargeMemory(int(lines * cacheLine))
	defer free()
	m.latency = chase(data, int(lines))
	m.line = fetch(data, uint64(lines), 1, 48)
	m.span = fetch(data, uint64(lines), spanLines, 12)
	m.byte = least(len(data), func() {
		var a, b, c, d uint64
		for rest := data; len(rest) >= 32; rest = rest[32:] {
			a += binary.LittleEndian.Uint64(rest)
			b += binary.LittleEndian.Uint64(rest[8:])
			c += binary.LittleEndian.Uint64(rest[16:])
			d += binary.LittleEndian.Uint64(rest[24:])
		}
		runtime.KeepAlive(a + b + c + d) // or the compiler leaves the loop out
	})
	m.move = move(data)
	m.decode = decode()
	rng, keys := splitMix(9), make([]uint64, 2048)
	for i := range keys {
		keys[i] = rng.next()
	}
	const rounds = 1 << 12
	var found []uint32
	m.compare = least(rounds*len(keys), func() {
		for i := range rounds {
			found = kernel.ScanFlat(found[:0], keys, uint64(i)*0x9e3779b97f4a7c15, 3)
		}
	})
	queries, fps := keys[:64], keys[1024:1536]
	var pairs []uint64
	m.compareMany = least(rounds*len(queries)*len(fps)/4, func() {
		for range rounds / 4 {
			pairs = kernel.ScanMany(pairs[:0], queries, fps, 3)
		}
	})
	return m
}

// chase measures the latency: every line has the number of the next, in one cycle through all of
// them that is drawn at random.
func chase(data []byte, lines int) float64 {
	order, rng := make([]uint32, lines), splitMix(5)
	for i := range order {
		order[i] = uint32(i)
	}
	for i := len(order) - 1; i > 0; i-- { // Sattolo's shuffle makes one cycle
		j, _ := bits.Mul64(rng.next(), uint64(i))
		order[i], order[j] = order[j], order[i]
	}
	for i, next := range order {
		binary.LittleEndian.PutUint32(data[i*cacheLine:], next)
	}
	const steps = 1 << 18
	next := uint32(0)
	return least(steps, func() {
		for range steps {
			next = binary.LittleEndian.Uint32(data[int(next)*cacheLine:])
		}
		runtime.KeepAlive(next)
	})
}

// fetch measures reading a line of spans of some lines at random places, each of which is
// prefetched a number of spans ahead.
func fetch(data []byte, lines uint64, span, ahead int) float64 {
	const all = 1 << 20 // lines
	return least(all, func() {
		next, rng, sum := splitMix(7), splitMix(7), uint64(0)
		at := func(r *splitMix) int {
			i, _ := bits.Mul64(r.next(), lines-uint64(span)+1)
			return int(i) * cacheLine
		}
		for i := range all/span + ahead {
			kernel.PrefetchAt(unsafe.Pointer(&data[at(&next)]), uintptr(span*cacheLine))
			if i < ahead {
				continue
			}
			for part := data[at(&rng):][:span*cacheLine]; len(part) >= 8; part = part[min(cacheLine, len(part)):] {
				sum += binary.LittleEndian.Uint64(part)
			}
		}
		runtime.KeepAlive(sum)
	})
}

// move measures a pass of a radix sort: items of one half of data are counted by a digit, and moved
// to the other half.
func move(data []byte) float64 {
	type item struct{ key, number uint64 }
	n := min(len(data)/(2*moveBytes), moved)
	from := unsafe.Slice((*item)(unsafe.Pointer(&data[0])), n)
	to := unsafe.Slice((*item)(unsafe.Pointer(&data[n*moveBytes])), n)
	rng := splitMix(11)
	for i := range from {
		from[i] = item{rng.next(), uint64(i)}
	}
	return least(n, func() {
		var next [1 << moveBits]uint32
		for i := range from {
			next[from[i].key>>(64-moveBits)]++
		}
		at := uint32(0)
		for i, count := range next {
			next[i], at = at, at+count
		}
		for _, x := range from {
			p := &next[x.key>>(64-moveBits)]
			to[*p] = x
			*p++
		}
	})
}

// decode measures decoding a block of uniform keys.
func decode() float64 {
	const width = 40
	var room kernel.Keys
	low := make([]uint64, kernel.BlockKeys)
	unary := make([]byte, kernel.BlockKeys/4)
	rng := splitMix(13)
	for i := range low {
		low[i] = rng.next()
		unary[i/4] |= 1 << (2 * (i % 4)) // a one and a zero for each key
	}
	packed := append(kernel.AppendPacked(nil, low, width), make([]byte, kernel.Slack)...)
	const rounds = 1 << 12
	return least(rounds*len(low), func() {
		for range rounds {
			room.Decode(unary, packed, width, 0, len(low), 0)
		}
	})
}
