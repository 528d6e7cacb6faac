package passage

// An automaton is the suffix automaton of a sequence of words (Blumer et al., The smallest
// automaton recognizing the subwords of a text, 1985). It is built in linear time. A state
// represents all stretches that end at the same positions of the sequence; there are at most two
// states per word.
type automaton struct {
	next  map[uint64]int32 // by state<<32 | word
	out   []int32          // by state, its last edge; -1 if it has none
	edges []edge
	words []int32 // by state, the length of its longest stretch in words
	link  []int32 // by state, the state of its longest suffix that ends at more positions; -1 for the first state
	first []int32 // by state, the position in the sequence at which its first occurrence ends, in words
}

// An edge is a word that leads from one state to another. before is the state's previous edge.
type edge struct{ word, before int32 }

// newAutomaton returns the automaton of words. No stretch contains a noWord.
func newAutomaton(words []int32) *automaton {
	a := &automaton{next: make(map[uint64]int32, len(words))}
	last := a.add(0, -1, 0)
	for i, word := range words {
		if word == noWord {
			last = 0
			continue
		}
		last = a.append(last, word, int32(i+1))
	}
	return a
}

func key(state, word int32) uint64 { return uint64(state)<<32 | uint64(uint32(word)) }

func (a *automaton) add(words, link, first int32) int32 {
	a.words, a.link, a.first, a.out = append(a.words, words), append(a.link, link), append(a.first, first), append(a.out, -1)
	return int32(len(a.words) - 1)
}

// join adds an edge for a word from one state to another.
func (a *automaton) join(from, word, to int32) {
	if _, ok := a.next[key(from, word)]; !ok {
		a.edges = append(a.edges, edge{word, a.out[from]})
		a.out[from] = int32(len(a.edges) - 1)
	}
	a.next[key(from, word)] = to
}

// append appends a word to the sequence; end is the position after the word. last is the state of
// all words since the last noWord. append returns the state of these words and the new one.
func (a *automaton) append(last, word, end int32) int32 {
	if to, ok := a.next[key(last, word)]; ok { // after a noWord: this stretch has occurred before
		if a.words[to] == a.words[last]+1 {
			return to
		}
		return a.split(last, word, to)
	}
	state := a.add(a.words[last]+1, 0, end)
	for ; last >= 0; last = a.link[last] {
		to, ok := a.next[key(last, word)]
		if ok {
			if a.words[to] != a.words[last]+1 {
				to = a.split(last, word, to)
			}
			a.link[state] = to
			break
		}
		a.join(last, word, state)
	}
	return state
}

// split separates the stretches that an edge leads to from the longer stretches of state to. It
// returns the new state.
func (a *automaton) split(from, word, to int32) int32 {
	part := a.add(a.words[from]+1, a.link[to], a.first[to])
	for e := a.out[to]; e >= 0; e = a.edges[e].before {
		w := a.edges[e].word
		a.join(part, w, a.next[key(to, w)])
	}
	a.link[to] = part
	for ; from >= 0 && a.next[key(from, word)] == to; from = a.link[from] {
		a.next[key(from, word)] = part
	}
	return part
}

// step returns the state of the longest stretch that occurs in the sequence and ends with word, and
// its length in words. state and words describe the stretch before the word.
func (a *automaton) step(state int32, words int, word int32) (int32, int) {
	if word == noWord {
		return 0, 0
	}
	for {
		if to, ok := a.next[key(state, word)]; ok {
			return to, words + 1
		}
		if state == 0 {
			return 0, 0
		}
		state = a.link[state]
		words = int(a.words[state])
	}
}
