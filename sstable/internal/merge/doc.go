// Package merge has what merging sorted runs takes, without knowing what the keys are: memory does
// not grow with the number of keys, and all processors work.
//
//	Cut          cuts the streams of the inputs into pieces by key, so that the result is the
//	             concatenation of the merged pieces (pieces.go)
//	Keys         merges the keys of a piece (keys.go); Pairs keeps with each a value
//	Sources      remembers which input each element of the result came from (sources.go)
//	Mapping      remembers the numbers that the elements of an input got, in a few bits each,
//	             because they ascend (mapping.go)
//	AsyncWriter  writes in a goroutine of its own (async.go)
//
// Pieces are merged two by two, without a branch that depends on keys: a heap of all inputs would
// mispredict at every key.
package merge
