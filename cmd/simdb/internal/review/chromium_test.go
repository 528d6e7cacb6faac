package review

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium that a test drives by the DevTools protocol, over two pipes:
// messages are JSON objects, each with a zero byte after it.
type browser struct {
	t       testing.TB
	to      io.Writer
	session string
	mu      sync.Mutex
	next    int
	answers map[int]chan answer
	errors  []string // uncaught exceptions, and what the console and the security policy report
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// newBrowser starts a browser with an empty page. The test is skipped where there is none.
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
	if err != nil {
		t.Fatal(err)
	}
	readAnswers, writeAnswers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{readCommands, writeAnswers} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readCommands.Close()
	writeAnswers.Close()
	b := &browser{t: t, to: writeCommands, answers: map[int]chan answer{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.listen(readAnswers)
	}()
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		select {
		case <-ended: // it has closed its pipe
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
		}
		cmd.Wait()
		writeCommands.Close()
		readAnswers.Close()
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	return b
}

// busy is how much processor time the page has taken since it was opened.
func (b *browser) busy() time.Duration {
	b.t.Helper()
	var r struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	b.call("Performance.getMetrics", nil, &r)
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.t.Fatal("the browser does not say how busy it was")
	return 0
}

// listen takes answers and events until the browser ends.
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

// send sends a command and returns where its answer will be.
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
		b.t.Errorf("%s: %v", method, err)
	}
	return c
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	select {
	case a := <-b.send(method, params):
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(a.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(time.Minute):
		b.t.Fatalf("%s: no answer", method)
	}
}

// eval evaluates an expression in the page; what it returns is written as JSON.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return string(r.Result.Value)
}

// want evaluates an expression, which must be true.
func (b *browser) want(expression string) {
	b.t.Helper()
	if got := b.eval(expression); got != "true" {
		b.t.Errorf("not true: %s (%s)", expression, got)
	}
}

// open loads a file and returns how long it took until the page was laid out and drawn.
func (b *browser) open(path string) time.Duration {
	b.t.Helper()
	start := time.Now()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	for b.eval(fmt.Sprintf("document.readyState === 'complete' && location.href === %q", "file://"+path)) != "true" {
		time.Sleep(5 * time.Millisecond)
	}
	b.eval("new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))")
	return time.Since(start)
}

// press presses keys, such as "j" or "ArrowDown".
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		down := map[string]any{"type": "keyDown", "key": k}
		if len(k) == 1 {
			down["text"] = k
		}
		b.call("Input.dispatchKeyEvent", down, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": k}, nil)
	}
}
