package syntax

import (
	"encoding/binary"
	"sync"
)

// A form is the part that statements share if they differ only in their literals. Programs write
// the same few statements with other values, so each form is parsed once. A form never changes:
// concurrent runs share it.
type form struct {
	Statement *Statement
	Word      string      // first word of the statement; "" for a query
	Params    map[int]int // token number of each ? -> its index among all ?, from 0
}

// Limits of the cache of forms.
const (
	maxForms = 256     // how many it holds before it is emptied
	maxForm  = 4 << 10 // bytes of a key
)

// forms caches forms by key.
type forms struct {
	mu    sync.RWMutex
	byKey map[string]*form
}

// appendForm appends the key of the form of tokens: the kind of each token, and the Value of each
// token that is not a literal.
func appendForm(key []byte, tokens []Token) []byte {
	for i := range tokens {
		t := &tokens[i]
		if key = append(key, byte(t.Type)); !isLiteral(t) {
			key = append(binary.AppendUvarint(key, uint64(len(t.Value))), t.Value...)
		}
	}
	return key
}

func (f *forms) find(key []byte) *form {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byKey[string(key)]
}

func (f *forms) keep(key []byte, p *form) {
	if len(key) > maxForm {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.byKey) >= maxForms || f.byKey == nil {
		f.byKey = make(map[string]*form)
	}
	f.byKey[string(key)] = p
}
