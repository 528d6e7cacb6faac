package sstable

import (
	"math"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Fingerprints that are lost with a block of run 0 are made again from what else the table knows of
// them: the block's neighbours say between which numbers they are and that they ascend; every
// permuted run has the distinct ones of them all; and a text has the fingerprint that was computed
// from it, unless its writer gave another one.

// salvagedKey is the fingerprint of a document.
type salvagedKey struct {
	fp  Fingerprint
	has bool
	err error // why it is lost
}

// lostKeys is what is known of the fingerprints of a block.
type lostKeys struct {
	err         error
	least, most uint64
	distinct    []uint64 // those that there can be, ascending; nil if that is not known
	exact       bool     // they are all of the block's, each once
}

// findFingerprints finds the blocks of run 0 that are damaged, and what the other runs know of
// them.
func (s *Salvaged) findFingerprints() error {
	r := s.r
	if r.info.Fingerprints == 0 {
		return nil
	}
	var lost []*lostKeys
	for b := range (int(r.info.Fingerprints) + keyrun.BlockLen - 1) / keyrun.BlockLen {
		l := s.lostBlock(b)
		if l == nil {
			continue
		}
		s.found(l.err)
		s.fingerprints[b] = l
		lost = append(lost, l)
	}
	if len(lost) == 0 {
		return nil
	}
	if r.runs[0] == nil { // then all are, and blocks mean nothing
		return s.findAllFingerprints()
	}
	for i := 1; i < len(r.runs); i++ {
		if s.runIsWhole(i) {
			return s.collect(i, lost)
		}
	}
	return nil
}

// lostBlock returns what run 0 says of block b if that is damaged, else nil.
func (s *Salvaged) lostBlock(b int) *lostKeys {
	run := s.r.runs[0]
	if run == nil {
		return &lostKeys{err: s.noPart(KindRun), most: math.MaxUint64}
	}
	err := run.Check(b)
	if err == nil {
		return nil
	}
	l := &lostKeys{err: err, least: run.Base(b), most: run.Greatest()}
	if b+1 < run.NumBlocks() {
		l.most = run.Base(b + 1)
	}
	return l
}

// runIsWhole reports whether run i can be read.
func (s *Salvaged) runIsWhole(i int) bool {
	return s.r.runs[i] != nil && s.r.runs[i].Verify() == nil && uint32(s.r.runs[i].Len()) == s.r.info.Distinct
}

// collect has every lost block get the distinct fingerprints of run i that are in its range.
func (s *Salvaged) collect(i int, lost []*lostKeys) error {
	it := s.r.runs[i].Iter(0)
	for it.Next() {
		fp := s.r.params.Layout.Unpermute(i, it.Key())
		// ranges ascend and share their ends at most
		at, _ := slices.BinarySearchFunc(lost, fp, func(l *lostKeys, fp uint64) int {
			if l.most < fp {
				return -1
			}
			return 1
		})
		for ; at < len(lost) && lost[at].least <= fp; at++ {
			lost[at].distinct = append(lost[at].distinct, fp)
		}
	}
	for b, l := range s.fingerprints {
		slices.Sort(l.distinct)
		n := s.r.runs[0].Count(b)
		if k := len(l.distinct); k == n+1 && b+1 < s.r.runs[0].NumBlocks() {
			l.distinct = l.distinct[:n] // the last is the first of the next block alone
		}
		l.exact = len(l.distinct) == n
	}
	return it.Err()
}

// findAllFingerprints is for a table without run 0: if all fingerprints differ, a permuted run has
// them all.
func (s *Salvaged) findAllFingerprints() error {
	r := s.r
	for i := 1; i < len(r.runs); i++ {
		if !s.runIsWhole(i) {
			continue
		}
		keys := make([]uint64, 0, r.info.Distinct)
		it := r.runs[i].Iter(0)
		for it.Next() {
			keys = append(keys, r.params.Layout.Unpermute(i, it.Key()))
		}
		slices.Sort(keys)
		for b, l := range s.fingerprints {
			if l.distinct, l.exact = keys, r.info.Distinct == r.info.Fingerprints; l.exact {
				from := b * keyrun.BlockLen
				l.distinct = keys[from:min(from+keyrun.BlockLen, len(keys))]
			}
		}
		return it.Err()
	}
	return nil
}

// keysOf returns the fingerprints of n documents from first, those of block b.
func (w *salvageWalk) keysOf(b int, first, n uint32) ([]salvagedKey, error) {
	keys := make([]salvagedKey, n)
	with := uint32(0) // of them have one
	if all := w.r.info.Fingerprints; first < all {
		with = min(n, all-first)
	}
	l := w.fingerprints[b]
	switch {
	case with == 0:
	case l == nil:
		run := w.r.runs[0]
		var space kernel.Keys
		for i, k := range run.Decode(b, run.Info(b), 0, int(with), &space) {
			keys[i] = salvagedKey{fp: k, has: true}
		}
	case l.exact && len(l.distinct) == int(with):
		for i, k := range l.distinct {
			keys[i] = salvagedKey{fp: k, has: true}
		}
	default:
		w.keysByText(l, first, keys[:with])
	}
	return keys, nil
}

// keysByText sets the fingerprints of documents from first on to those of their texts, where that
// can be: they are in the range of the block and the permuted runs have them. Between two equal
// ones there are no others.
func (w *salvageWalk) keysByText(l *lostKeys, first uint32, keys []salvagedKey) {
	w.low = max(w.low, l.least)
	for i := range keys {
		keys[i].err = l.err
		if w.o.Sums == nil {
			continue
		}
		text, _, err := w.record(w.cursor, first+uint32(i))
		if err != nil || len(text) == 0 {
			continue
		}
		fp, words, _ := w.o.Sums(string(text))
		if !words || fp < w.low || fp > l.most {
			continue
		}
		if _, ok := slices.BinarySearch(l.distinct, fp); !ok && l.distinct != nil {
			continue
		}
		keys[i], w.low = salvagedKey{fp: fp, has: true}, fp
	}
	for i := 1; i < len(keys); i++ {
		if keys[i].has || !keys[i-1].has {
			continue
		}
		for j := i + 1; j < len(keys); j++ {
			if keys[j].has {
				if keys[j].fp == keys[i-1].fp {
					keys[i] = keys[i-1]
				}
				break
			}
		}
	}
}
