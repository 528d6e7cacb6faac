package syntax

import (
	"encoding/binary"
	"sync"
)

// A form is what statements that differ in their literals alone have in common. Programs write the
// same few statements with other values, so each form is parsed once. It is never changed:
// concurrent runs share it.
type form struct {
	Statement *Statement
	Word      string      // that the statement starts with; "" for a query
	Params    map[int]int // the number of the token of each ? -> the number of the ?, from 0
}

// Limits of the forms that are kept.
const (
	maxForms = 256     // how many
	maxForm  = 4 << 10 // bytes of a key
)

// forms are the forms of the statements that were parsed last, by their keys.
type forms struct {
	mu    sync.RWMutex
	byKey map[string]*form
}

// appendForm appends the key of the form of tokens: the kinds of all, and what those say that are
// no literals.
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
