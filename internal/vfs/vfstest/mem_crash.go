package vfstest

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// sectorSize is the unit that a disk writes atomically.
const sectorSize = 512

// CrashClone returns the file system as found after a power cut now. It has all synced data, and a
// part of the rest. keep is the share of the rest, from 0 for nothing to 1 for everything; seed
// chooses among 512-byte sectors, file sizes and changes of names. m may have crashed, and is not
// changed.
func (m *Mem) CrashClone(keep float64, seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem(m.hostDir)
	s := survivor{keep: keep, rng: rand.New(rand.NewPCG(seed, 0x5eed)), clones: map[*memNode]*memNode{}}
	c.root = s.node(m.root)
	return c
}

// KillClone returns the file system as found by the next process after this one was killed, on a
// machine without a power cut. It has all written data, but unsynced data is still not durable. If
// a Commit was the last operation, and Committed has not been called for it, the killed process had
// made the change but not synced it. m may have crashed, and is not changed.
func (m *Mem) KillClone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := NewMem(m.hostDir)
	clones := map[*memNode]*memNode{}
	var clone func(n *memNode) *memNode
	names := func(nodes map[string]*memNode) map[string]*memNode {
		cloned := make(map[string]*memNode, len(nodes))
		for name, n := range nodes {
			cloned[name] = clone(n)
		}
		return cloned
	}
	clone = func(n *memNode) *memNode {
		if n == nil || clones[n] != nil {
			return clones[n]
		}
		// Clipped, because the clone and the original may both append.
		k := &memNode{data: slices.Clip(n.data), synced: n.synced, whole: n.whole}
		clones[n] = k
		if !n.isDir() {
			if n.commit == m.ops && n.commit > 0 {
				k.synced, k.whole = n.former, true
			}
			return k
		}
		k.children, k.durable = names(n.children), names(n.durable)
		for _, change := range n.pending {
			change.node = clone(change.node)
			k.pending = append(k.pending, change)
		}
		return k
	}
	c.root = clone(m.root)
	return c
}

// survivor decides which data survives a power cut. It visits names in sorted order, so that each
// seed has one result.
type survivor struct {
	keep   float64
	rng    *rand.Rand
	clones map[*memNode]*memNode // a file with two names before the crash is still one file
}

// survives decides at random whether one unsynced item survives.
func (s *survivor) survives() bool { return s.rng.Float64() < s.keep }

// node returns the part of a file or directory, recursively, that survives. This part is durable,
// since it is the contents of the disk.
func (s *survivor) node(n *memNode) *memNode {
	if c := s.clones[n]; c != nil {
		return c
	}
	c := &memNode{}
	s.clones[n] = c
	if !n.isDir() {
		c.data = s.content(n)
		c.synced = c.data
		return c
	}
	// Changes of a directory are independent; any subset of those since the last SyncDir may have
	// reached the disk.
	names := maps.Clone(n.durable)
	for _, change := range n.pending {
		if !s.survives() {
			continue
		}
		if change.drop != "" {
			delete(names, change.drop)
		}
		if change.add != "" {
			names[change.add] = change.node
		}
	}
	c.children = make(map[string]*memNode, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.children[name] = s.node(names[name])
	}
	c.durable = maps.Clone(c.children)
	return c
}

// content returns the bytes of a file after the crash: some size, and for each sector either the
// new bytes or the synced ones.
func (s *survivor) content(n *memNode) []byte {
	if n.whole {
		if s.survives() {
			return n.data
		}
		return n.synced
	}
	size := s.size(len(n.synced), len(n.data))
	data := make([]byte, size)
	copy(data, n.synced)
	for start := 0; start < size; start += sectorSize {
		end := min(start+sectorSize, size)
		written, durable := section(n.data, start, end), section(n.synced, start, end)
		if !slices.Equal(written, durable) && s.survives() {
			clear(data[start:end])
			copy(data[start:end], written)
		}
	}
	return data
}

// size chooses the synced size, the new one, or one in between: size and bytes of a file reach the
// disk independently.
func (s *survivor) size(synced, written int) int {
	switch {
	case synced == written || s.keep <= 0:
		return synced
	case s.keep >= 1:
		return written
	}
	switch s.rng.IntN(3) {
	case 0:
		return synced
	case 1:
		return written
	}
	low, high := min(synced, written), max(synced, written)
	return low + s.rng.IntN(high-low+1)
}

// section returns the part of data[start:end] that exists.
func section(data []byte, start, end int) []byte {
	return data[min(start, len(data)):min(end, len(data))]
}
