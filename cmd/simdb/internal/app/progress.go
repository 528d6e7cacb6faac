package app

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// The values of --progress.
const (
	progressAuto  = "auto"  // a bar on a terminal, nothing elsewhere
	progressPlain = "plain" // a line from time to time
	progressJSON  = "json"  // an object per line: stage, done, total, unit, rate, seconds, left
	progressNone  = "none"
)

const (
	silence   = time.Second // before anything is shown
	barEvery  = 150 * time.Millisecond
	lineEvery = 5 * time.Second
	jsonEvery = time.Second
)

// Meter shows the progress of a long operation on standard error: as a bar on a terminal, as plain
// lines in a log, or as JSON for a program. Short operations show nothing: the first report appears
// after a second. Any goroutine may call its methods.
type Meter struct {
	w io.Writer

	mu    sync.Mutex
	show  *mpb.Progress // while bars are shown
	last  engine.Progress
	start time.Time // start of the stage
	from  int64     // Done when the stage was first seen

	stop chan struct{}
	done sync.WaitGroup
}

// newMeter starts a meter that writes to w; terminal says whether w is a terminal. Until Stop,
// callers must write to the meter and not to w.
func newMeter(mode string, w io.Writer, terminal bool) *Meter {
	if mode == progressAuto && !terminal {
		mode = progressNone
	}
	m := &Meter{w: w, stop: make(chan struct{}), start: time.Now()}
	switch mode {
	case progressAuto:
		m.done.Go(m.bars)
	case progressPlain:
		m.done.Go(func() { m.lines(lineEvery, m.plain) })
	case progressJSON:
		m.done.Go(func() { m.lines(jsonEvery, m.json) })
	}
	return m
}

// Report sets the progress of the operation. It is cheap and may be called often.
func (m *Meter) Report(p engine.Progress) {
	m.mu.Lock()
	if p.Stage != m.last.Stage || p.Done < m.last.Done {
		m.start, m.from = time.Now(), p.Done
	}
	m.last = p
	m.mu.Unlock()
}

// Stop ends the display and clears the bar.
func (m *Meter) Stop() {
	m.mu.Lock()
	select {
	case <-m.stop:
	default:
		close(m.stop)
	}
	m.mu.Unlock()
	m.done.Wait()
}

// Write shows lines above the bar; p ends with a newline.
func (m *Meter) Write(p []byte) (int, error) {
	if m.Above(p) {
		return len(p), nil
	}
	return m.w.Write(p)
}

// Above shows lines above the bar, or returns false if there is no bar; p ends with a newline.
func (m *Meter) Above(p []byte) bool {
	m.mu.Lock()
	show := m.show
	m.mu.Unlock() // mpb writes between two drawings, which call state
	if show == nil {
		return false
	}
	if _, err := show.Write(p); err == nil {
		return true
	}
	m.done.Wait() // the bar is being cleared, which would erase p
	return false
}

func (m *Meter) showOn(p *mpb.Progress) {
	m.mu.Lock()
	m.show = p
	m.mu.Unlock()
}

// meterState is a report and the values derived from it.
type meterState struct {
	engine.Progress
	rate    float64 // Unit per second
	elapsed time.Duration
	left    time.Duration // negative if unknown
}

func (m *Meter) state() meterState {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := meterState{Progress: m.last, elapsed: time.Since(m.start), left: -1}
	if sec := s.elapsed.Seconds(); sec > 0 {
		s.rate = float64(s.Done-m.from) / sec
	}
	if s.rate > 0 && s.Total > s.Done {
		s.left = time.Duration(float64(s.Total-s.Done) / s.rate * float64(time.Second)).Round(time.Second)
	}
	return s
}

// lines calls show at each interval, until Stop.
func (m *Meter) lines(every time.Duration, show func(meterState)) {
	wait := silence
	for {
		select {
		case <-m.stop:
			return
		case <-time.After(wait):
			if s := m.state(); s.Stage != "" {
				show(s)
			}
			wait = every
		}
	}
}

func (m *Meter) plain(s meterState) { fmt.Fprintf(m.w, "%s: %s\n", s.Stage, s.text()) }

func (m *Meter) json(s meterState) {
	out := struct {
		Stage   string   `json:"stage"`
		Done    int64    `json:"done"`
		Total   *int64   `json:"total"`
		Unit    string   `json:"unit"`
		Rate    float64  `json:"rate"`
		Seconds float64  `json:"seconds"`
		Left    *float64 `json:"left"`
	}{Stage: s.Stage, Done: s.Done, Unit: string(s.Unit), Rate: s.rate, Seconds: s.elapsed.Seconds()}
	if s.Total > 0 {
		out.Total = &s.Total
	}
	if s.left >= 0 {
		out.Left = new(s.left.Seconds())
	}
	b, err := json.Marshal(out)
	if err == nil {
		fmt.Fprintf(m.w, "%s\n", b)
	}
}

// text writes the progress for a person: "12.3 MB of 40.0 MB (31 %), 4.1 MB/s, 7s left".
func (s meterState) text() string {
	if s.Done == 0 && s.Total == 0 {
		return s.elapsed.Round(time.Second).String()
	}
	var b strings.Builder
	switch {
	case s.Total > 0 && s.Unit == "": // Done and Total mean nothing to a person
		fmt.Fprintf(&b, "%d %%", 100*min(s.Done, s.Total)/s.Total)
	case s.Total > 0 && s.Unit == "bytes":
		fmt.Fprintf(&b, "%s of %s (%d %%)", quantity.Bytes(s.Done), quantity.Bytes(s.Total), 100*min(s.Done, s.Total)/s.Total)
	case s.Total > 0:
		fmt.Fprintf(&b, "%s of %s (%d %%)", quantity.Number(s.Done), amount(s.Total, s.Unit), 100*min(s.Done, s.Total)/s.Total)
	default:
		b.WriteString(amount(s.Done, s.Unit))
	}
	if s.rate >= 1 && s.Unit != "" {
		fmt.Fprintf(&b, ", %s/s", amount(int64(s.rate), s.Unit))
	}
	if s.left >= 0 {
		fmt.Fprintf(&b, ", %v left", s.left)
	}
	return b.String()
}

// amount writes n units: bytes as MB or similar, other units as a number with commas.
func amount(n int64, unit string) string {
	switch unit {
	case "bytes":
		return quantity.Bytes(n)
	case "":
		return quantity.Number(n)
	}
	return quantity.Number(n) + " " + string(unit)
}

// bars draws the bar of the current stage, and clears it at the end. All stages share one bar,
// because mpb does not reliably remove a bar that has ended.
func (m *Meter) bars() {
	select {
	case <-m.stop:
		return
	case <-time.After(silence):
	}
	p := mpb.New(mpb.WithOutput(m.w), mpb.WithRefreshRate(barEvery), mpb.WithAutoRefresh())
	var bar *mpb.Bar
	tick := time.NewTicker(barEvery)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-m.stop:
			running = false
		case <-tick.C:
		}
		s := m.state()
		if s.Stage == "" {
			continue
		}
		if bar == nil {
			m.showOn(p)
			bar = m.bar(p)
		}
		bar.SetTotal(s.Total, false)
		bar.SetCurrent(min(s.Done, max(s.Total, 0)))
	}
	if bar != nil {
		bar.Abort(false)
	}
	p.Wait()
	if bar != nil {
		io.WriteString(m.w, clearLast)
	}
	m.showOn(nil)
}

// clearLast moves the cursor up to the bar, which mpb leaves above it, and erases from there on.
// After a ^C on the terminal, the cursor is not in the first column.
const clearLast = "\r\x1b[1A\x1b[J"

// bar returns a bar for the current stage. It is a spinner while the total is unknown.
func (m *Meter) bar(p *mpb.Progress) *mpb.Bar {
	bar := mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]").Build()
	spinner := mpb.SpinnerStyle().Build()
	fill := func(w io.Writer, stat decor.Statistics) error {
		if m.state().Total > 0 {
			return bar.Fill(w, stat)
		}
		stat.RequestedWidth = 1
		return spinner.Fill(w, stat)
	}
	name := decor.Any(func(decor.Statistics) string { return m.state().Stage + " " })
	say := decor.Any(func(decor.Statistics) string { return " " + m.state().text() })
	// Without a total, mpb never regards the bar as complete.
	return p.MustAdd(0, mpb.BarFillerFunc(fill), mpb.BarWidth(24), mpb.PrependDecorators(name), mpb.AppendDecorators(say))
}
