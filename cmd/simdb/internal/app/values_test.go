package app

import (
	"testing"
	"time"
)

func TestSizesAndAges(t *testing.T) {
	for in, want := range map[string]size{"2GiB": 2 << 30, "500MB": 500e6, "1.5k": 1536, "7": 7, "0": 0, "1 TB": 1e12} {
		var z size
		if err := z.UnmarshalText([]byte(in)); err != nil || z != want {
			t.Errorf("%q is %d, %v; want %d", in, z, err, want)
		}
	}
	for in, want := range map[string]time.Duration{"30d": 720 * time.Hour, "2w": 336 * time.Hour, "48h": 48 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute} {
		var a Age
		if err := a.UnmarshalText([]byte(in)); err != nil || time.Duration(a) != want {
			t.Errorf("%q is %v, %v; want %v", in, time.Duration(a), err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "1e99GB", "-3d", "NaNd"} {
		if err := new(size).UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is a size", in)
		}
		if err := new(Age).UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is an age", in)
		}
	}
}

// TestDefaultMemory covers machines of all sizes.
func TestDefaultMemory(t *testing.T) {
	for machine, want := range map[int64]Memory{
		0: 256 << 20, 1: 1 << 20, 300 << 20: 75 << 20, 512 << 20: 128 << 20, 1 << 30: 256 << 20, 4 << 30: 256 << 20,
		8 << 30: 512 << 20, 16 << 30: 1 << 30, 1 << 40: 1 << 30,
	} {
		if got := defaultMemory(machine); got != want {
			t.Errorf("with %d bytes the default is %d, want %d", machine, got, want)
		}
	}
	var m Memory
	if err := m.UnmarshalText([]byte("auto")); err != nil || m < 1<<20 || m > 1<<30 {
		t.Errorf("auto is %d, %v", m, err)
	}
}
