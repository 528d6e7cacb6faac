package catalog

import (
	"bytes"
	"testing"
)

// TestCheck checks catalogs: an intact one has no problem, and any byte that is changed in a page
// that is in use gives one, or is not looked at by anybody.
func TestCheck(t *testing.T) {
	image, want := smallCatalog(t, 20)
	if problems, err := Check(imageFS{image: image}, "CATALOG"); len(problems) > 0 || err != nil {
		t.Fatal(problems, err)
	}
	used := usedPages(t, image)
	found, all := 0, 0
	for at := 7; at < len(image); at += 61 {
		if !used[uint64(at/pageSize)] {
			continue
		}
		bad := bytes.Clone(image)
		bad[at] ^= 0x10
		problems, err := Check(imageFS{image: bad}, "CATALOG")
		if err != nil {
			t.Fatal(at, err)
		}
		if all++; len(problems) > 0 {
			found++
		} else if got, err := readImage(bad); err != nil || !equal(*got, want) {
			t.Errorf("byte %d: no problem, and %v", at, err)
		}
	}
	t.Logf("%d of %d changes found", found, all)
}
