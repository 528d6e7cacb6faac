package syntax

import "sync"

// A Cache keeps parsed statements by their text. Programs run the same few texts with other
// parameters. A parsed statement is never changed, so concurrent runs may share it.
type Cache struct {
	Entries int // most statements kept
	Text    int // bytes of the longest text kept

	mu     sync.RWMutex
	byText map[string]*Parsed
}

// Parse parses a statement, or finds it in the cache.
func (c *Cache) Parse(l *Language, text string) (*Parsed, error) {
	c.mu.RLock()
	p, ok := c.byText[text]
	c.mu.RUnlock()
	if ok {
		return p, nil
	}
	p, err := l.Parse(text)
	if err != nil || len(text) > c.Text {
		return p, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byText) >= c.Entries || c.byText == nil {
		c.byText = make(map[string]*Parsed)
	}
	c.byText[text] = p
	return p, nil
}

// Len returns how many statements are kept.
func (c *Cache) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.byText)
}
