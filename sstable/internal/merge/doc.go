// Package merge writes a table of the documents of other tables: Merge merges one section after the
// other (merge.go has the steps, state.go what they share). Below are the parts that know nothing
// of tables. Memory does not grow with the number of keys, and all processors work:
//
//	Cut          cuts the streams of the inputs into pieces by key, so that the result is the
//	             concatenation of the merged pieces (pieces.go)
//	Keys         merges the keys of a piece (keys.go); Pairs keeps with each a value
//	Sources      remembers which input each element of the result came from (sources.go)
//	Mapping      remembers the numbers that the elements of an input got, in a few bits each,
//	             because they ascend (mapping.go)
//
// Pieces are merged two by two, without a branch that depends on keys: a heap of all inputs would
// mispredict at every key.
package merge
