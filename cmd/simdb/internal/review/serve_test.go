package review

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// Times of decisions are in UTC nevertheless. No server runs yet that reads the variable.
func init() { time.Local = time.FixedZone("east", 3*3600) }

// parsed sets a command to what arguments say.
func parsed[C any](t *testing.T, args ...string) *C {
	t.Helper()
	var c C
	k, err := kong.New(&c, kong.Vars{"inputs": "", "formats": ""}, app.ExactStrings(), kong.Resolvers(kong.ResolverFunc(app.DefaultCriterion)))
	if err == nil {
		_, err = k.Parse(args)
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return &c
}

// served shows a page until the test ends. It returns the address, and a function that waits for
// the end of the command and returns its error.
func served(t *testing.T, args ...string) (address string, wait func() error) {
	t.Helper()
	c := parsed[Command](t, args...)
	if c.Decisions == "" { // without a terminal it must be named
		c.Decisions = c.decisionsPath()
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	a := (&app.App{Out: io.Discard, Err: w}).Part(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(a)
		w.Close()
	}()
	wait = func() error { return <-ended }
	lines := bufio.NewScanner(r)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "http://") {
	}
	address = lines.Text()
	go io.Copy(io.Discard, r)
	t.Cleanup(cancel)
	if address == "" {
		t.Fatal(wait())
	}
	return address, wait
}

// corpus writes documents of which those of a family share most words, runs dedup, and returns the
// paths of the documents and the audit.
func corpus(t *testing.T) (documents, audit string) {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 40 {
		id, extra := fmt.Sprint("d", i), fmt.Sprintf("first%d second%d third%d", i, i, i)
		if i == 3 {
			id = `</script>"'&<b>` + "\u2028"
		}
		text, _ := json.Marshal(fmt.Sprintf("%s family%d %s <img src=x onerror=alert(1)>", strings.Repeat(fmt.Sprintf("a%d b%d c%d ", i/4, i/4, i/4+1), 20), i/4, extra[:7+7*(i%3)]))
		name, _ := json.Marshal(id)
		fmt.Fprintf(&lines, `{"meta":{"key":%s},"parts":[{"body":%s}]}`+"\n", name, text)
	}
	documents, audit = filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "kept.audit.jsonl")
	must.Do(t, os.WriteFile(documents, []byte(lines.String()), 0o666))
	c := parsed[verbs.Dedup](t, documents, "--jaccard", "0.4", "--id-field", "meta.key", "--text-field", "parts[].body", "-o", filepath.Join(dir, "kept.jsonl"))
	must.Do(t, c.Run(app.NewQuiet(t.Context(), nil)))
	return documents, audit
}

// readAudit returns the rows of an audit.
func readAudit(t *testing.T, audit string) (rows []dedup.AuditRow) {
	t.Helper()
	content := must.Get(os.ReadFile(audit))(t)
	for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n")[1:] {
		var r dedup.AuditRow
		must.Do(t, json.Unmarshal([]byte(line), &r))
		rows = append(rows, r)
	}
	return rows
}

// docsOf returns the documents of corpus.
func docsOf(t *testing.T, path string) (docs []engine.Doc) {
	t.Helper()
	content := must.Get(os.ReadFile(path))(t)
	for line := range strings.Lines(string(content)) {
		var r struct {
			Meta  struct{ Key string }
			Parts []struct{ Body string }
		}
		must.Do(t, json.Unmarshal([]byte(line), &r))
		docs = append(docs, engine.Doc{ID: r.Meta.Key, Text: r.Parts[0].Body})
	}
	return docs
}

// ask sends a request, and returns the status and the answer.
func ask(t *testing.T, method, address, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r := must.Get(http.NewRequest(method, address, strings.NewReader(body)))(t)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	answer := must.Get(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	all := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(all), answer.Header
}

var asJSON = []string{"Content-Type", "application/json"}

// Only who knows the address gets an answer, and no page of another site.
func TestServedToOneOnly(t *testing.T) {
	_, audit := corpus(t)
	address, _ := served(t, audit)
	host := strings.Split(address, "/")[2]
	if !strings.HasPrefix(host, "127.0.0.1:") || len(strings.Split(address, "/")[3]) < 26 {
		t.Errorf("the address is %s", address)
	}
	decision := `{"a":"d1","b":"d0","decision":"drop","by":"ann"}`
	for _, c := range []struct {
		method, address, body string
		headers               []string
		want                  int
	}{
		{"GET", address, "", nil, 200},
		{"GET", address, "", []string{"Host", "localhost:1234"}, 200}, // a forwarded port
		{"GET", address, "", []string{"Host", "example.org"}, 404},    // a name that leads here
		{"GET", address, "", []string{"Host", "127.0.0.1.example.org"}, 404},
		{"GET", "http://" + host + "/", "", nil, 404},
		{"GET", strings.Replace(address, host+"/", host+"/x", 1), "", nil, 404},
		{"GET", strings.TrimSuffix(address, "/"), "", nil, 404},
		{"GET", address + "decide", "", nil, 404},
		{"GET", address + "finish", "", nil, 404},
		{"GET", address + "picture/0", "", nil, 404},
		{"GET", address + "picture/-1", "", nil, 404},
		{"GET", address + "picture/..%2f..%2fetc%2fpasswd", "", nil, 404},
		{"GET", address + "?from=x", "", nil, 400},
		{"GET", address + "?sample=x", "", nil, 400},
		{"GET", address + "?from=NaN", "", nil, 400}, // which JSON does not have
		{"GET", address + "?to=-Inf", "", nil, 400},
		{"GET", address + "?from=2&to=1", "", nil, 400},
		{"POST", address, "", asJSON, 404},
		{"POST", address + "decide", decision, []string{"Content-Type", "text/plain"}, 415}, // as a form of another site can
		{"POST", address + "decide", decision, append([]string{"Origin", "http://example.org"}, asJSON...), 404},
		{"POST", address + "decide", decision, append([]string{"Origin", "null"}, asJSON...), 404},
		{"POST", address + "finish", "", []string{"Origin", "http://example.org"}, 404},
		{"POST", address + "decide", `{"a":"d1","b":"d1","decision":"drop"}`, asJSON, 400},
		{"POST", address + "decide", `{"a":"d1","b":"d0","decision":"maybe"}`, asJSON, 400},
		{"POST", address + "decide", `{"a":"` + strings.Repeat("x", maxDecision) + `","b":"d0","decision":"drop"}`, asJSON, 400},
		{"POST", address + "decide", `{"a":"` + strings.Repeat("<", maxDecision/2) + `","b":"d0","decision":"drop"}`, asJSON, 400}, // each < becomes six bytes
	} {
		code, answer, headers := ask(t, c.method, c.address, c.body, c.headers...)
		if code != c.want || code == 404 && strings.Contains(answer, "script") {
			t.Errorf("%s %s %v: %d, want %d: %.100s", c.method, c.address, c.headers, code, c.want, answer)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
			if headers.Get(name) != want {
				t.Errorf("%s %s: %s is %q", c.method, c.address, name, headers.Get(name))
			}
		}
		if code == 200 && (!strings.Contains(answer, "connect-src &#39;self&#39;;") && !strings.Contains(answer, "connect-src 'self';") || strings.Contains(answer, "file:;")) {
			t.Errorf("the policy is that of a page that no program shows: %.600s", answer)
		}
	}
	if _, err := os.Stat(strings.TrimSuffix(audit, ".jsonl") + ".decisions.jsonl"); err == nil {
		t.Error("there is a file of decisions without any")
	}
}

// Decisions are on the disk when the answer comes, with reviewer and time; the latest of two
// reviewers holds; dedup and learn read the file as it is.
func TestServedDecisions(t *testing.T) {
	documents, audit := corpus(t)
	file := strings.TrimSuffix(audit, ".jsonl") + ".decisions.jsonl"
	address, wait := served(t, audit)
	second, _ := served(t, audit, "--decisions", file)
	begun := time.Now().UTC().Add(-time.Second)
	pairs := readAudit(t, audit)
	if len(pairs) < 20 {
		t.Fatalf("%d pairs", len(pairs))
	}
	said := func(address string, i int, by, decision string) {
		t.Helper()
		body, _ := json.Marshal(map[string]string{"a": *pairs[i].ID, "b": *pairs[i].Keeper, "decision": decision, "by": by})
		code, answer, _ := ask(t, "POST", address+"decide", string(body), asJSON...)
		content, err := os.ReadFile(file)
		if err != nil || code != 200 || !strings.HasSuffix("\n"+string(content), "\n"+answer+"\n") {
			t.Fatalf("status %d: %s; the file has %s, %v", code, answer, content, err)
		}
		var d dedup.Decision
		if err := json.Unmarshal([]byte(answer), &d); err != nil || d.By != by || d.At.Before(begun) || d.At.After(time.Now().Add(time.Second)) || !strings.Contains(answer, `Z"`) {
			t.Errorf("%s: %v", answer, err)
		}
	}
	for i := range pairs {
		said(address, i, "ann", []string{"drop", "allow", "keep", "allow"}[i%4])
	}
	said(second, 0, "bob", "allow")
	said(address, 2, "ann", "none")
	for _, page := range []string{address, second} {
		_, html, _ := ask(t, "GET", page, "")
		if !strings.Contains(html, `{"by":"ann","at":"`) || strings.Count(html, `"by":"bob"`) != 1 || strings.Count(html, `"decision":"none"`) != 1 {
			t.Errorf("%s: the page does not show what both have said", page)
		}
	}
	decisions, err := dedup.ReadDecisions(t.Context(), file, nil)
	if err != nil || len(decisions) != len(pairs)-1 {
		t.Errorf("%d decisions of %d pairs: %v", len(decisions), len(pairs), err)
	}
	labels, err := learn.ReadLabels(t.Context(), file, nil)
	if err != nil || len(labels) != len(pairs)-1 {
		t.Fatalf("%d labels of %d pairs: %v", len(labels), len(pairs), err)
	}
	for _, l := range labels {
		for i, p := range pairs {
			if l.A == *p.ID && l.B == *p.Keeper && l.Same != (i%2 == 0 && i > 0) {
				t.Errorf("the label of pair %d is %v", i, l.Same)
			}
		}
	}
	c, err := learn.New(t.Context(), docsOf(t, documents), learn.Options{})
	must.Do(t, err)
	if lesson, err := c.Learn(labels); err != nil || lesson.Rule == "" {
		t.Errorf("learn: %v", err)
	}
	_, html, _ := ask(t, "GET", address+"?undecided=1", "")
	if n := strings.Count(html, `"rule":"first"`); n != 1 {
		t.Errorf("%d pairs are undecided", n)
	}
	said(address, 2, "ann", "drop")
	if code, html, _ := ask(t, "GET", address+"?undecided=1", ""); code != 200 || strings.Contains(html, `"rule":"first"`) || !strings.Contains(html, "no near-duplicates that the selection passes") {
		t.Errorf("status %d: a decided pair is still undecided", code)
	}
	if err := os.Chmod(file, 0o444); err == nil && os.Geteuid() != 0 {
		if code, _, _ := ask(t, "POST", address+"decide", `{"a":"x","b":"y","decision":"drop"}`, asJSON...); code != 500 {
			t.Errorf("a file that cannot be written: status %d", code)
		}
	}
	if code, _, _ := ask(t, "POST", address+"finish", "", asJSON...); code != 200 {
		t.Errorf("finish: status %d", code)
	}
	if err := wait(); err != nil {
		t.Errorf("the command ends with %v", err)
	}
}

// browseServed decides on a page that a program shows: decisions are in the file before the next
// pair is shown, and stay after a reload.
func browseServed(t *testing.T, b *browser, _ string) {
	_, audit := corpus(t)
	file := filepath.Join(filepath.Dir(audit), "said.jsonl")
	address, wait := served(t, audit, "--decisions", file, "--reviewer", "ann")
	b.Open(address)
	b.Want(`$("reviewer").value === "ann" && !$("download") && pairs.length >= 20 && pairs.every((p) => p.doc.text && p.keeper.text)`)
	b.Press("y", "n", "1")
	b.Eval("busy")
	b.Want(`pairs.map(decided).slice(0, 4).join() === "drop,allow,keep," && at === 3`)
	b.Press("u")
	b.Eval(`busy.then(() => { $("reviewer").value = "bob"; $("reviewer").dispatchEvent(new Event("change")); show(0); return decide("allow"); })`)
	all, err := dedup.ReadDecisionLines(t.Context(), file, nil)
	var got []string
	for _, d := range all {
		got = append(got, d.By+" "+string(d.Kind))
	}
	if strings.Join(got, ", ") != "ann drop, ann allow, ann keep, ann none, bob allow" {
		t.Errorf("%v, %v", got, err)
	}
	b.Eval(`busy.then(() => { show(1); return decide("drop"); }).then(undo)`)
	b.Want(`decided(pairs[1]) === "allow" && at === 1`)
	b.Eval(`localStorage.setItem(storeKey, JSON.stringify({ 2: [{ by: "x", decision: "keep" }] }))`) // of another page
	b.Open(address)
	b.Want(`pairs.map(decided).slice(0, 4).join() === "allow,allow,," && disputed(pairs[0]) && $("reviewer").value === "bob"`)
	b.Eval(`$("state").value = "none"; $("sample").value = "3"; $("from").value = "0.1"; setTimeout(again)`)
	chosen := func() bool { // the page may go away during the question
		var r struct{ Result struct{ Value bool } }
		a := <-b.send("Runtime.evaluate", map[string]any{"expression": "document.readyState === 'complete' && pairs.length === 3", "returnByValue": true})
		return json.Unmarshal(a.Result, &r) == nil && r.Result.Value
	}
	for end := time.Now().Add(10 * time.Second); !chosen() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	b.Want(`pairs.length === 3 && $("state").value === "none" && $("sample").value === "3" && $("from").value === "0.1" && window.pwned === undefined`)
	b.Screenshot("served", 1280, 900, "light")
	os.RemoveAll(filepath.Dir(file)) // then a decision cannot be stored
	b.Eval(`decide("drop")`)
	b.Want(`decided(pairs[at]) === "" && $("status").textContent.startsWith("The decision is not stored:")`)
	b.Eval(`finish()`)
	b.Want(`document.body.textContent.includes("Every decision is stored")`)
	if err := wait(); err != nil {
		t.Errorf("the command ends with %v", err)
	}
	b.errors = nil // the answer 500 above
}

// A shown page links pictures by number, and only those of its pairs are sent: as pictures, whatever
// they are.
func TestServedPictures(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	for _, name := range []string{"a.png", "b.JPG", "c.webp", "secret.png"} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte("<script>alert(1)</script> "+name), 0o666))
		if name != "a.png" && name != "secret.png" {
			fmt.Fprintf(&rows, `{"a":%q,"b":%q,"distance":3}`+"\n", filepath.Join(dir, "a.png"), path)
		}
	}
	file := filepath.Join(dir, "rows.jsonl")
	must.Do(t, os.WriteFile(file, []byte(rows.String()), 0o666))
	address, _ := served(t, file)
	_, page, _ := ask(t, "GET", address, "")
	for i, c := range []struct{ name, kind string }{{"a.png", "image/png"}, {"b.JPG", "image/jpeg"}, {"c.webp", "image/webp"}} {
		link := fmt.Sprint("picture/", i)
		code, content, h := ask(t, "GET", address+link, "")
		if code != 200 || !strings.HasSuffix(content, c.name) || h.Get("Content-Type") != c.kind || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: status %d, %q, %v", c.name, code, content, h)
		}
		if !strings.Contains(page, `"picture":"`+link+`"`) {
			t.Errorf("the page has no %s", link)
		}
	}
	if !strings.Contains(page, "img-src 'self';") {
		t.Error("the policy permits no pictures")
	}
	os.Remove(filepath.Join(dir, "a.png"))
	for _, link := range []string{"picture/0", "picture/3", "picture/", "picture/x", "picture/0/../../rows.jsonl"} {
		if code, _, _ := ask(t, "GET", address+link, ""); code != 404 {
			t.Errorf("%s: status %d", link, code)
		}
	}
}
