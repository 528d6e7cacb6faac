package review

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// browser is a headless Chromium that a test controls by the DevTools protocol, over two pipes.
// Messages are JSON objects, each followed by a zero byte.
type browser struct {
	T       testing.TB // the test that uses it now
	to      io.Writer
	session string
	mu      sync.Mutex
	next    int
	answers map[int]chan answer
	ended   chan struct{} // closed once the browser has closed its pipe
	errors  []string      // uncaught exceptions, and reports of the console and the security policy
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// newBrowser starts a browser with an empty page. It skips the test if there is no browser.
func newBrowser(t testing.TB) *browser {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" || runtime.GOOS != "linux" {
		t.Skip("there is no Chromium")
	}
	readCommands, writeCommands, err := os.Pipe()
	must.Do(t, err)
	readAnswers, writeAnswers, err := os.Pipe()
	must.Do(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{readCommands, writeAnswers} // descriptors 3 and 4
	must.Do(t, cmd.Start())
	readCommands.Close()
	writeAnswers.Close()
	b := &browser{T: t, to: writeCommands, answers: map[int]chan answer{}, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		b.listen(readAnswers)
	}()
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		select {
		case <-b.ended: // it has closed its pipe
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
		}
		cmd.Wait()
		writeCommands.Close()
		readAnswers.Close()
	})
	var target struct{ TargetID, SessionID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
	b.Call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	return b
}

// Busy returns the processor time that the page has used since it was opened.
func (b *browser) Busy() time.Duration {
	b.T.Helper()
	var r struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	b.Call("Performance.getMetrics", nil, &r)
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.T.Fatal("the browser does not say how busy it was")
	return 0
}

// listen receives answers and events until the browser ends.
func (b *browser) listen(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			answer
			ID     int
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "":
			if c := b.answers[m.ID]; c != nil {
				c <- m.answer
				delete(b.answers, m.ID)
			}
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			b.errors = append(b.errors, string(m.Params))
		}
		b.mu.Unlock()
	}
}

// send sends a command. Its answer arrives on the returned channel.
func (b *browser) send(method string, params any) chan answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && method != "Browser.close" && method != "Browser.setDownloadBehavior" {
		m["sessionId"] = b.session
	}
	c := make(chan answer, 1)
	b.answers[b.next] = c
	line, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(line, 0))
	}
	if err != nil {
		b.T.Errorf("%s: %v", method, err)
	}
	return c
}

// Call sends a command and waits for its answer.
func (b *browser) Call(method string, params, result any) {
	b.T.Helper()
	select {
	case a := <-b.send(method, params):
		if a.Error != nil {
			b.T.Fatalf("%s: %s", method, a.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(a.Result, result); err != nil {
				b.T.Fatalf("%s: %v", method, err)
			}
		}
	case <-b.ended:
		b.T.Fatalf("%s: the browser has ended", method)
	}
}

// Eval evaluates an expression in the page, and returns the result as JSON.
func (b *browser) Eval(expression string) string {
	b.T.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.T.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return string(r.Result.Value)
}

// Want evaluates an expression, which must be true.
func (b *browser) Want(expression string) {
	b.T.Helper()
	if got := b.Eval(expression); got != "true" {
		b.T.Errorf("not true: %s (%s)", expression, got)
	}
}

// Open loads a file, or an address that begins with http, and returns the time until the page was
// laid out and drawn.
func (b *browser) Open(path string) time.Duration {
	b.T.Helper()
	start := time.Now()
	url := path
	if !strings.HasPrefix(url, "http") {
		url = "file://" + path
	}
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
	for b.Eval(fmt.Sprintf("document.readyState === 'complete' && location.href === %q", url)) != "true" {
		time.Sleep(5 * time.Millisecond)
	}
	b.Eval("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
	return time.Since(start)
}

// Press presses keys, such as "j" or "ArrowDown".
func (b *browser) Press(keys ...string) {
	b.T.Helper()
	for _, k := range keys {
		down := map[string]any{"type": "keyDown", "key": k}
		if len(k) == 1 {
			down["text"] = k
		}
		b.Call("Input.dispatchKeyEvent", down, nil)
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": k}, nil)
	}
}

// Use makes the browser report to a test. At its end, the test fails if the browser has reported
// errors.
func (b *browser) Use(t testing.TB) {
	before := b.T
	b.T, b.errors = t, nil
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.T = before; len(b.errors) > 0 {
			t.Errorf("the browser complains: %s", b.errors)
		}
	})
}

// Size sets the size of the screen.
func (b *browser) Size(width, height int) {
	b.T.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
}

// Screenshot writes a picture of the page to the folder that SIMDB_SCREENSHOTS names, if it is set.
func (b *browser) Screenshot(name string, width, height int, scheme string) {
	b.T.Helper()
	dir := os.Getenv("SIMDB_SCREENSHOTS")
	if dir == "" {
		return
	}
	b.Size(width, height)
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	var r struct{ Data []byte }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), r.Data, 0o666); err != nil {
		b.T.Error(err)
	}
}
