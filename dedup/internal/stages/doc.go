// Package stages has the steps of a join of sets that are distributed over many machines. The
// join finds star clusters, or pairs, of Jaccard similarity t or more, and its result equals that
// of setjoin on one machine. A step is a function of slices. An engine, a pool of processes or an
// array job groups the inputs of each call, in any order, and may repeat a call; duplicates are
// ignored.
//
//	step       per     input                       output
//	Count      worker  its sets                    Counts, which are merged and sent to all workers
//	Route      doc     its Set                     Postings: one for each element of its prefix
//	Meet       group   Postings of some elements   Asks: documents with partners, and their cells
//	NewMember  doc     its Set, its Asks           a Member, for each group of its Asks
//	Pairs      group   Members                     pairs, each in one group only
//
// For star clusters, Route is followed by
//
//	MeetFirst  group   Postings of some elements   Asks, Postings for later, and candidates: links
//	                                               between documents that may match
//	Whole      one     the Forest of candidates    its small components, and its large ones
//	Only       group   its Asks, large components  the Asks of documents in large components
//	NewMember  doc     its Set, its Asks           a Member, for each group of its Asks
//	Links      group   Members                     Links: a forest of connected documents
//	Forest     any     Links                       Links of the same components, no more than before
//	Meet       group   Postings for later, each    Asks: documents with partners in other
//	                   with its Root by Forest     components; then NewMember, Links, Forest again
//	Shards     one     the Forest of all Links,    Asks: each component to one shard
//	                   and the small components
//	NewMember  doc     its Set, its Asks           a Member, for the shard
//	Stars      shard   Members                     Stars: each document's keeper and score
//
// Documents without a Star are in no component: each is its own keeper. Documents of a small
// component of candidates skip the steps from Only to the last Forest, so their sets move once.
//
// Fingerprints have no Postings in the first round: PrintGroups says which groups receive a
// document, and MeetPrints links the documents of a group. Batches of Postings, fingerprints and
// Asks are one message.
//
// # Why it is exact
//
// All workers order elements in the same way: by increasing rank of their counts, then by hash. If two sets
// match, they share an element of their prefixes (package setjoin), and both have enough elements
// from the first shared one on. Postings say how many, so at that element both are known to have
// a partner. Both are assigned to one cell there, and a group has whole cells.
//
// A group compares all pairs of each small cell; it joins the members of all its large cells
// together, with package setjoin. A pair that is in several cells counts in the lowest cell that
// both are assigned to. Links may find a link twice, which is harmless.
//
// A star cluster lies within one component of the graph of all pairs, and depends on nothing
// else. So setjoin.Stars of some whole components returns the same keepers and scores as for all
// sets together. The Doc of a set is its place in the order of preference. Two sets that match
// share an element that has candidates, so a component of candidates consists of whole
// components. All documents of a Posting for later are in one component of candidates, which is
// large.
//
// # Crowds
//
// The elements of a template occur in very many sets. As they come last in the order, most are in
// no prefix, and sets that do not match because their own parts are large are never compared.
// Very many sets that do match have very many pairs, but few links, which Links finds without the
// pairs.
//
// The sets that share an element and may have a partner form a cell. If there are more than
// MaxCell, they are ordered by size and cut into parts, and each two parts whose sizes may match
// form a cell: n sets are then sent to about 2n/MaxCell cells each. For links, each part is
// joined alone first. In a crowd this leaves one component, which needs no more comparisons;
// pairs of parts join only the documents that are not yet connected.
//
// # Communication
//
// A set of n elements sends about (1-t) n Postings of some 12 bytes. A set with partners also
// sends some 8 bytes for each Ask, and its elements, 8 bytes each, once to every group. The cells
// of a pair's several common elements mostly hold the same documents. Such cells coincide, as a
// cell is named by its documents, or they are small, have the same first document, and thus share
// a group. With fewer groups, a set is sent fewer times. A Link has some 10 bytes. A set in a small
// component of candidates is only sent to the group of its component, others are sent there, too.
//
// # Limits
//
// A Forest holds all documents with candidates in memory, with some 20 bytes each, and a
// component must fit into one shard. Only large cells, which are groups of their own, are limited
// to MaxCell sets; small cells share groups, by hash.
package stages
