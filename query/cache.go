package query

import "sync"

const (
	cacheEntries = 256  // parsed statements kept
	cacheText    = 4096 // bytes of the longest text kept: a PUT with its document does not come twice
)

// parseCache keeps parsed statements by their text. Programs run the same few texts with other parameters, and parsing
// costs several times what a NEAR does. A parsed statement is never changed, so that many runs may
// share one.
var parseCache struct {
	sync.RWMutex
	byText map[string]*parsed
}

// parseCached is parse, for texts that may come again.
func parseCached(text string) (*parsed, error) {
	parseCache.RLock()
	p := parseCache.byText[text]
	parseCache.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := parse(text)
	if err != nil || len(text) > cacheText {
		return p, err
	}
	parseCache.Lock()
	defer parseCache.Unlock()
	if len(parseCache.byText) >= cacheEntries || parseCache.byText == nil {
		parseCache.byText = make(map[string]*parsed)
	}
	parseCache.byText[text] = p
	return p, nil
}
