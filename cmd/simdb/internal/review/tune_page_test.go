package review

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/dedup/tune"
)

// tuneReport returns a report on random matches.
func tuneReport(scored bool) *tuning.Report {
	r := rand.New(rand.NewPCG(31, 32))
	report := &tuning.Report{
		Report: &tune.Report{Documents: 500, Scored: scored}, Name: "a <b>\u202e",
		Command: func(t string) string { return "simdb dedup 'a <b>' " + t },
	}
	for i := range 300 {
		id := fmt.Sprint("d", i)
		n := report.Add(id, "", 1, scored)
		for range r.IntN(6) {
			m := tune.Match{ID: fmt.Sprint("m", r.IntN(1000)), Distance: r.IntN(tune.MaxDistance+2) - 1, Score: float64(r.IntN(1001)) / 1000}
			if m.Score < tune.MinScore {
				m.Score = -1
			}
			report.Found(n, m)
		}
		itself := tune.Match{ID: id, Score: -1}
		if scored {
			itself.Score = 1
		}
		report.Found(n, itself)
	}
	return report
}

// TestTuneInBrowser views pages of tune in Chromium: differing words must be marked, and nothing
// may be wider than the screen.
func TestTuneInBrowser(t *testing.T) {
	b := newBrowser(t)
	for _, scored := range []bool{true, false} {
		r := tuneReport(scored)
		r.Name = strings.Repeat("corpus", 20)
		r.Hints = []string{"many differ in numbers: " + strings.Repeat("words ", 30) + "--mask numbers"}
		pairs := r.Boundary(3)
		for i, p := range pairs {
			p.A = strings.Repeat("long-id-", 30)
			p.TextA, p.TextB = "the same words</pre> and one here", fmt.Sprint("the same words</pre> and no. ", i, strings.Repeat(" more", 50), " here")
		}
		path := filepath.Join(t.TempDir(), "page.html")
		var page strings.Builder
		if err := r.WritePage(&page, 3, pairs); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{390, 1280} {
			b.Size(width, 900)
			b.Open(path)
			b.Want(fmt.Sprintf("document.documentElement.scrollWidth <= %d", width))
			b.Want(`[...document.querySelectorAll(".pair")].length === 10 && [...document.querySelectorAll(".pair")].every((p) =>
				p.querySelector("del").textContent === "one" && p.querySelector("ins").textContent.startsWith("no.") && p.querySelectorAll("pre").length === 2)`)
			b.Want(`[...document.querySelectorAll("pre")].every((p) => p.scrollHeight <= p.clientHeight + 1)`)
			b.Want(`[...document.querySelectorAll(".flag")].every((e) => e.textContent.length > 20 || e.getClientRects().length === 1 && e.getBoundingClientRect().height < 40)`)
			b.Want(fmt.Sprintf(`document.querySelectorAll("figure").length === %d && document.querySelectorAll(".wide tr").length === 18`, map[bool]int{true: 4, false: 3}[scored]))
			b.Screenshot(fmt.Sprint("tune-", scored, width), width, 900, "dark")
		}
	}
}
