package view

import (
	"math"

	"github.com/simdb/simdb/internal/table"
)

// A Life says which documents have expired: those that were stored before Since, and those that
// expire by themselves at Now or earlier. Both are in microseconds since the Unix epoch.
type Life struct{ Since, Now int64 }

// Always is the Life in which no document has expired.
var Always = Life{Since: math.MinInt64, Now: math.MinInt64}

// Within returns the Life of the documents that have not expired in l and were stored at since or
// later.
func (l Life) Within(since int64) Life {
	l.Since = max(l.Since, since)
	return l
}

// Has reports whether d has not expired.
func (l Life) Has(d *table.Document) bool {
	return d.Time >= l.Since && (d.Expires == 0 || d.Expires > l.Now)
}

// Written selects the documents that have not expired.
func (l Life) Written() table.Written {
	return table.Written{From: l.Since, To: math.MaxInt64, Now: l.Now, MaxSeq: math.MaxUint64}
}

// Lives reports whether the document at p has not expired.
func (p Place) Lives(l Life) (bool, error) {
	if p.Mem != nil {
		return l.Has(&p.Mem.Document), nil
	}
	return p.Part.Lives(p.Doc, l)
}

// AllLive reports whether it is certain that no document of the table has expired.
func (t *Table) AllLive(l Life) bool { return t.Meta.MinTime >= l.Since && t.FirstExpiry() > l.Now }

// MayExpire reports whether a document of the table expires by itself.
func (t *Table) MayExpire() bool { return t.FirstExpiry() < math.MaxInt64 }

// Lives reports whether a document has not expired.
func (t *Table) Lives(doc uint32, l Life) (bool, error) {
	if t.Meta.MinTime < l.Since {
		if at, err := t.Time(doc); err != nil || at < l.Since {
			return false, err
		}
	}
	if t.FirstExpiry() > l.Now {
		return true, nil
	}
	at, err := t.Expiry(doc)
	return at == 0 || at > l.Now, err
}
