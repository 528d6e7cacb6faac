// Package merge writes a table with the documents of other tables. Merge merges one section after
// the other (merge.go has the steps, state.go their shared state). The parts below are independent
// of tables. Memory does not grow with the number of keys, and all processors are used:
//
//	Cut          cuts the streams of the inputs into pieces by key, so that the result is the
//	             concatenation of the merged pieces (pieces.go)
//	Keys         merges the keys of a piece (keys.go); Pairs is the same with values
//	Sources      stores which input each element of the result came from (sources.go)
//	Mapping      stores the new numbers of the elements of an input, in a few bits each,
//	             because they ascend (mapping.go)
//
// Pieces are merged two by two, without a branch that depends on keys: a heap of all inputs would
// mispredict a branch at every key.
package merge
