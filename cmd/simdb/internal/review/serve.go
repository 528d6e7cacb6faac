package review

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/internal/quantity"
)

// server shows the page at http://127.0.0.1:PORT/SECRET/. Only programs of this machine reach the
// port, and only those that know the secret get an answer. Requests that a browser sends for pages
// of other sites are refused: they have another host or origin.
type server struct {
	c        *Command
	a        *app.App
	secret   string
	pictures pictures
	finish   chan struct{} // closed by the page's button

	mu     sync.Mutex // one selection or decision at a time
	page   *Page
	stored int64 // decisions
}

// pictures are the files that the page may show, by the numbers in their links.
type pictures struct {
	mu    sync.Mutex
	files []string
	at    map[string]int
}

// link returns the link of a file.
func (p *pictures) link(file string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.at[file]
	if !ok {
		n = len(p.files)
		p.files, p.at[file] = append(p.files, file), n
	}
	return fmt.Sprintf("picture/%d", n)
}

// file returns the file with a number, or "".
func (p *pictures) file(number string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(p.files) {
		return p.files[n]
	}
	return ""
}

// serve shows the page until its button "Finish", or until the context ends.
func (c *Command) serve(a *app.App) error {
	s := &server{c: c, a: a, secret: rand.Text(), pictures: pictures{at: map[string]int{}}, finish: make(chan struct{})}
	if err := s.build(c.Selection); err != nil {
		return err
	}
	s.page.tell(a)
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(c.Port))))
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return a.Context() }}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	a.Say("%s of %s to decide; decisions go to %s", quantity.Count(int64(len(s.page.Clusters)), "cluster"), c.Data, c.decisionsPath())
	fmt.Fprintf(a.Err, "http://%s/%s/\n", l.Addr(), s.secret)
	select {
	case err = <-failed:
	case <-s.finish:
	case <-a.Context().Done():
		err = context.Cause(a.Context())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if web.Shutdown(ctx) != nil { // a browser keeps connections that it does not use
		web.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Say("%s: %s stored", c.decisionsPath(), quantity.Count(s.stored, "decision"))
	return err
}

// build makes the page of a selection.
func (s *server) build(sel Selection) error {
	page, err := s.c.build(s.a, sel, &s.pictures)
	if page != nil {
		page.Decisions = s.c.decisionsPath()
		s.page = page
	}
	return err
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	path, known := strings.CutPrefix(r.URL.Path, "/"+s.secret+"/")
	host := &url.URL{Host: r.Host}
	origin := r.Header.Get("Origin")
	if !known || !slices.Contains([]string{"127.0.0.1", "localhost"}, host.Hostname()) || origin != "" && origin != "http://"+r.Host {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	number, picture := strings.CutPrefix(path, "picture/")
	switch {
	case r.Method == http.MethodGet && path == "":
		s.show(w, r)
	case r.Method == http.MethodGet && picture:
		s.picture(w, r, s.pictures.file(number))
	case r.Method == http.MethodPost && path == "decide":
		s.decide(w, r)
	case r.Method == http.MethodPost && path == "finish":
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-s.finish:
		default:
			close(s.finish)
		}
	default:
		http.Error(w, "there is nothing here", http.StatusNotFound)
	}
}

// show writes the page of the selection that the query describes.
func (s *server) show(w http.ResponseWriter, r *http.Request) {
	sel, err := selectionOf(r.URL.Query(), s.c.Selection)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page.Selection.same(&sel) && !sel.Undecided {
		j := &job{a: s.a}
		if err = s.c.readHistory(j); err == nil {
			j.said.attach(s.page.Clusters)
		}
	} else if err = s.build(sel); errors.Is(err, app.Status(app.ExitNo)) {
		err = nil
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.page.Write(w) // an error is one of the connection
}

// selectionOf returns the selection that a query describes. What it does not mention is as in flags.
func selectionOf(query url.Values, flags Selection) (sel Selection, err error) {
	if sel = flags; len(query) == 0 {
		return sel, nil
	}
	sel.From, sel.To, sel.OfRule, sel.Undecided = nil, nil, query.Get("rule"), query.Get("undecided") != ""
	for name, to := range map[string]**float64{"from": &sel.From, "to": &sel.To} {
		if text := query.Get(name); text != "" {
			value, wrong := strconv.ParseFloat(text, 64)
			*to, err = &value, cmp.Or(err, wrong)
		}
	}
	sel.Sample = 0
	if text := query.Get("sample"); text != "" {
		err = cmp.Or(err, sel.Sample.UnmarshalText([]byte(text)))
	}
	if text := query.Get("seed"); text != "" {
		seed, wrong := strconv.ParseUint(text, 10, 64)
		sel.Seed, err = seed, cmp.Or(err, wrong)
	}
	return sel, cmp.Or(err, sel.check())
}

// same reports whether two selections are the same.
func (s *Selection) same(t *Selection) bool {
	equal := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	return equal(s.From, t.From) && equal(s.To, t.To) && s.OfRule == t.OfRule && s.Undecided == t.Undecided && s.Sample == t.Sample && s.Seed == t.Seed
}

// pictureTypes are the types of pictures that browsers show.
var pictureTypes = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
	".tif": "image/tiff", ".tiff": "image/tiff", ".ico": "image/x-icon",
}

// picture sends a picture. A file with another ending is sent as a picture of an unknown type, which
// a browser does not run.
func (s *server) picture(w http.ResponseWriter, r *http.Request, path string) {
	f, err := os.Open(path)
	if err != nil {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", cmp.Or(pictureTypes[strings.ToLower(filepath.Ext(path))], "image/x-unknown"))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, f)
}

// maxDecision is the size of a request with a decision, and of its line: two ids of which each byte
// is escaped. Longer lines could not be read again.
const maxDecision = 1 << 20

// decide appends a decision to the file, and answers once it is on the disk.
func (s *server) decide(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "a decision is JSON", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDecision))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d, err := dedup.ParseDecision(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.At = time.Now().UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(d)
	if len(line) > maxDecision {
		http.Error(w, "the decision is too long", http.StatusBadRequest)
		return
	}
	if err == nil {
		err = appendLine(s.c.decisionsPath(), append(line, '\n'))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.stored++
	w.Header().Set("Content-Type", "application/json")
	w.Write(line)
}

// appendLine appends a line to a file.
func appendLine(path string, line []byte) (err error) {
	f, err := app.OpenToAppend(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, _, err = app.AppendLine(f, line)
	return err
}
