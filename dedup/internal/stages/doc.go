// Package stages has the steps of a join of sets that are spread over many machines: star clusters,
// or pairs, of Jaccard similarity t and more, exactly those of setjoin on one machine. A step is a
// function of slices. An engine, a pool of processes or an array job brings together what one call
// takes, in any order, and may do a call again: what comes twice counts once.
//
//	step       by      takes                       gives
//	Count      worker  its sets                    Counts, which are merged, and go to all workers
//	Route      doc     its Set                     Postings: of each element of its prefix
//	Meet       group   Postings of some elements   Asks: documents that meet others, and where
//	NewMember  doc     its Set, its Asks           a Member, for each group that it was asked to
//	Pairs      group   Members                     pairs, each in one group only
//
// For star clusters it is, after Route,
//
//	MeetFirst  group   Postings of some elements   Asks, and Postings for later
//	NewMember  doc     its Set, its Asks           a Member, for each group that it was asked to
//	Links      group   Members                     Links: a forest of what is connected
//	Forest     any     Links                       Links of the same components, at most as many
//	Meet       group   Postings for later, each    Asks: documents that meet those of other
//	                   with its Root by Forest     components; and NewMember, Links, Forest again
//	Shards     one     the Forest of all Links     Asks: each component to one shard
//	NewMember  doc     its Set, its Asks           a Member, for the shard
//	Stars      shard   Members                     Stars: the keeper of each, and the score
//
// Documents without a Star are in no component: each is its own keeper.
//
// # Why it is exact
//
// All workers order elements alike: by counts, the rarest first, then by hash. If two sets match
// they share an element of their prefixes (package setjoin), and behind the first one that they
// share there is enough in both. Postings say how much there is, so at that element, both are found
// to have company. They are asked to one cell there, and a group has whole cells.
//
// A group compares the members of each small cell with each other; those of its large cells, also of
// different ones, it joins by package setjoin. A pair may be in several cells; it counts in the lowest
// one that both were asked to. What Links finds twice does no harm.
//
// A star cluster is within one component of the graph of all pairs, and what is decided there
// depends on nothing else. So setjoin.Stars of some whole components has the keepers and the scores
// of all sets together. The Doc of a set is its place in the order of preference.
//
// # Crowds
//
// A template's elements are in very many sets. As they come last in the order, most are in no
// prefix, and sets whose own part is so large that they do not match do not meet at all. Very many
// sets that do match have very many pairs, but few links, which Links finds without the pairs.
//
// The sets of one element that have company are a cell. If they are more than MaxCell, they are
// ordered by size and cut into parts, and each two parts whose sizes may match are a cell: n sets
// go to about 2n/MaxCell cells each. For links the parts are joined alone first. In a crowd that
// leaves one component, which has nothing to meet; only what is not connected yet is joined by two
// parts.
//
// # What moves
//
// For a set of n elements about (1-t) n Postings of some 16 bytes; of sets that meet others, some 8
// bytes for each Ask, and the elements, 8 bytes each, once for every group. The cells of one
// pair at its several elements are mostly the same documents. Such cells are one, as a cell is
// named by its documents, or small ones with the same first document, and then of one group. With
// fewer groups a set goes to fewer of them. Of a Link some 10 bytes move, and of each set in a
// component its elements once more.
//
// # Limits
//
// All documents in components are in the memory of the last Forest, with 20 bytes each or so, and a
// component is in one shard. That groups have at most MaxCell sets is true of large cells, which
// are groups of their own; small ones share groups, by hash.
package stages
