//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The history of TestReaders: n by itself determines how operation n changes the database, so that
// every process knows the content of the database after any operation. Operation n writes the
// documents of residue n modulo residues: "r" and the residue, which is replaced, and "n" and n,
// which is new each time and replaces the one of the last such operation. The fingerprint is
// fingerprintOf(n), the time is timeOf(n).

const residues = 997

type opKind int

const (
	opPut     opKind = iota // both documents of its residue, in a batch
	opDelete                // both documents
	opLoad                  // the document "r", with a Loader
	opPrune                 // deletes documents written before n - pruneBefore
	opFlush                 // changes nothing
	opCompact               // changes nothing
)

const pruneBefore = 700

func kindOf(n int) opKind {
	switch {
	case n%1000 == 500:
		return opPrune
	case n%20_000 == 0:
		return opCompact
	case n%5000 == 2000:
		return opFlush
	case n%5000 == 3000:
		return opLoad
	case n%10 == 7:
		return opDelete
	}
	return opPut
}

// touches reports whether operation n writes documents of its residue.
func touches(n int) bool { return kindOf(n) <= opLoad }

func fingerprintOf(n int) uint64  { return uint64(n) * 0x9e3779b97f4a7c15 }
func timeOf(n int) time.Time      { return time.Unix(1_000_000_000+int64(n), 0) }
func newID(n int) string          { return fmt.Sprintf("n%d", n) }
func replacedID(n int) string     { return fmt.Sprintf("r%d", n%residues) }
func prunedBefore(prune int) int  { return prune - pruneBefore }
func lastPrune(n int) (prune int) { return (n+500)/1000*1000 - 500 } // not after n; -500 if there is none

// before returns the last operation before n that writes the documents of the same residue, 0 if
// there is none.
func before(n int) int {
	for n -= residues; n > 0 && !touches(n); n -= residues {
	}
	return max(n, 0)
}

// state returns the content of the database after operation n: the number of the operation that
// wrote each document. Documents written before the operation partly may be deleted or not, because
// the next operation is a prune that may have begun.
func state(n int) (docs map[string]int, partly int) {
	docs = map[string]int{}
	pruned := prunedBefore(lastPrune(n))
	for r := n; r > n-residues && r > 0; r-- {
		at := r
		if !touches(at) {
			at = before(at)
		}
		stays := 0 // the operation that wrote the document "n"
		if at > 0 && kindOf(at) != opDelete {
			if at >= pruned {
				docs[replacedID(at)] = at
			}
			for stays = at; stays > 0 && kindOf(stays) == opLoad; stays = before(stays) {
			}
		}
		if stays > 0 && kindOf(stays) == opPut && stays >= pruned {
			docs[newID(stays)] = stays
		}
	}
	if kindOf(n+1) == opPrune {
		partly = prunedBefore(n + 1)
	}
	return docs, partly
}

// check returns an error unless the documents of a database, each with the operation that wrote it
// (0 if unknown), are the state after an operation from acked on. It returns the last operation
// that the documents show.
func check(got map[string]int, acked int) (int, error) {
	last := 0
	for id, by := range got {
		if id[0] == 'n' {
			fmt.Sscanf(id, "n%d", &by)
		}
		last = max(last, by)
	}
	// The operations after the last visible one must have no visible effect.
	var differ error
	for n := last; n == last || n > 0 && kindOf(n) != opPut; n++ {
		want, partly := state(n)
		switch err := compare(got, want, partly); {
		case err != nil && (differ == nil || n <= acked):
			differ = fmt.Errorf("after operation %d: %w", n, err)
		case err == nil && n >= acked:
			return n, nil
		case err == nil:
			differ = fmt.Errorf("operation %d had been acknowledged, and the database is as after %d", acked, n)
		}
	}
	return 0, differ
}

func compare(got, want map[string]int, partly int) error {
	for id, by := range want {
		if at, ok := got[id]; !ok && by >= partly {
			return fmt.Errorf("%s of operation %d is missing", id, by)
		} else if ok && at != 0 && at != by {
			return fmt.Errorf("%s is of operation %d, not %d", id, at, by)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[id]; !ok {
			return fmt.Errorf("%s of operation %d is there", id, got[id])
		}
	}
	return nil
}
