package compaction

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const mib = 1 << 20

func sized(sizes ...int64) (ts []Table) {
	for i, s := range sizes {
		ts = append(ts, Table{Number: uint64(i + 1), Size: s, Docs: 100, MaxTime: 1000})
	}
	return ts
}

func TestPick(t *testing.T) {
	dead := sized(mib, 900*mib)
	dead[1].Dead = 40
	empty := sized(mib, mib)
	empty[0].Dead = 100
	old := sized(mib, mib, mib)
	old[1].MaxTime = 5
	for _, c := range []struct {
		name   string
		tables []Table
		o      Options
		want   []uint64
	}{
		{"nothing", nil, Options{}, nil},
		{"three small ones", sized(mib, mib, mib), Options{}, nil},
		{"four small ones", sized(mib, 2*mib, mib, 3*mib), Options{}, []uint64{1, 2, 3, 4}},
		{"four small ones beside a large one", sized(mib, 900*mib, mib, mib, mib), Options{}, []uint64{1, 3, 4, 5}},
		{"a tier of large ones", sized(100*mib, mib, 110*mib, 120*mib, 300*mib), Options{}, []uint64{1, 3, 4, 5}},
		{"each of another tier", sized(mib, 20*mib, 100*mib, 500*mib, 3000*mib), Options{}, nil},
		{"much is dead", dead, Options{}, []uint64{2}},
		{"all is dead", empty, Options{}, []uint64{1}},
		{"expired", old, Options{Expired: 10}, []uint64{2}},
		{"a fan-out of two", sized(mib, mib), Options{Fanout: 2}, []uint64{1, 2}},
	} {
		if got := Pick(c.tables, c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPickEnds merges what is picked until nothing is: few tables must be left, and little written.
func TestPickEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var tables []Table
	next, added, written := uint64(0), int64(0), int64(0)
	for range 2000 {
		next++
		size := mib + r.Int64N(mib)
		tables = append(tables, Table{Number: next, Size: size, Docs: 100})
		added += size
		for {
			pick := Pick(tables, Options{})
			if pick == nil {
				break
			}
			var merged Table
			tables = slices.DeleteFunc(tables, func(x Table) bool {
				if slices.Contains(pick, x.Number) {
					merged.Size += x.Size
					merged.Docs += x.Docs
					return true
				}
				return false
			})
			next++
			merged.Number = next
			written += merged.Size
			tables = append(tables, merged)
		}
	}
	if len(tables) > 24 {
		t.Errorf("%d tables are left", len(tables))
	}
	if amplification := float64(written) / float64(added); amplification > 8 {
		t.Errorf("every byte was written %.1f times more", amplification)
	}
	t.Logf("%d tables left, every byte written %.1f times more", len(tables), float64(written)/float64(added))
}

// TestPickAtExpiry looks at tables whose newest document is of the instant at which documents
// expire, or a microsecond older.
func TestPickAtExpiry(t *testing.T) {
	for maxTime, gone := range map[int64]bool{999: true, 1000: false, 1001: false} {
		picked := Pick([]Table{{Number: 1, Size: 1, Docs: 1, MaxTime: maxTime}}, Options{Expired: 1000})
		if (len(picked) == 1) != gone {
			t.Errorf("newest document of %d, expired before 1000: %v", maxTime, picked)
		}
	}
}
