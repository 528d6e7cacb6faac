package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/remotetest"
)

// send sends contents to the Hub, and publishes them together.
func send(ctx context.Context, files map[string][]byte) (err error) {
	var ups []place.Upload
	released := 0
	for name, content := range files {
		up, err := place.Create(ctx, name)
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		defer up.Drop()
		before := released
		if err := up.Send(ctx, bytes.NewReader(content), int64(len(content)), func() { released++ }); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		if strings.HasPrefix(name, "hf") && len(content) >= remotetest.Large && released == before {
			return errors.New("the content of a large file was not released when it was sent")
		}
		if ups = append(ups, up); len(ups) > 1 && !place.Include(ups[0], up) {
			return errors.New("not of the same commit")
		}
	}
	for _, up := range ups {
		if err := up.Publish(ctx); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if released != len(files) {
		return fmt.Errorf("the contents of %d of %d files were released", released, len(files))
	}
	return nil
}

func sendOne(t *testing.T, name string, content []byte) error {
	return send(t.Context(), map[string][]byte{name: content})
}

// TestCommits sends files of all kinds of sizes to all kinds of repositories and revisions, while each request
// fails once, in one of several ways.
func TestCommits(t *testing.T) {
	s, r := start(t), seeded(t)
	for i, repo := range []string{"/datasets/o/n/", "/o/n/", "/spaces/o/n/", "/datasets/o/n@refs/pr/7/", "/datasets/o/n@v+1/"} {
		s.Put(repo+".gitattributes", nil)
		for _, failing := range []string{"calm", "busy", "broken", "lost"}[min(i, 1):] {
			var mu sync.Mutex
			failed := map[string]bool{}
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				of := r.Method + r.URL.Path + r.URL.Query().Get("part")
				mu.Lock()
				again := failed[of]
				failed[of] = true
				mu.Unlock()
				if again || failing == "calm" {
					return false
				}
				switch failing {
				case "busy":
					w.WriteHeader(http.StatusServiceUnavailable)
					return true
				case "lost": // the server does what the client wants, but the answer is lost
					s.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
				}
				panic(http.ErrAbortHandler)
			}
			files, before := map[string][]byte{}, len(s.Commits())
			for n, size := range []int{0, 1, 513, remotetest.Large - 1, remotetest.Large, remotetest.Part, remotetest.Part + 1, 3*remotetest.Part + 17} {
				files[fmt.Sprintf("hf:/%s%s/ä+%% %d.jsonl", repo, failing, size)] = noise(r, size)
				if n < 3 {
					files[fmt.Sprintf("hf:/%s%s/%d.gz", repo, failing, size)] = noise(r, size)
				}
			}
			if err := send(t.Context(), files); err != nil {
				t.Errorf("%s %s: %v", repo, failing, err)
			}
			if commits, want := s.Commits()[before:], map[bool]int{false: 1, true: 2}[failing == "lost"]; len(commits) != want {
				t.Errorf("%s %s: %d commits, not %d: %v", repo, failing, len(commits), want, commits)
			}
			for name, content := range files {
				if got, err := read(name); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: read %d bytes, not %d, %v", name, len(got), len(content), err)
				}
			}
		}
	}
	if _, uploads := s.Names(); uploads > 0 {
		t.Errorf("%d uploads are not complete", uploads)
	}
}

// TestCommitsThatFail checks errors: what can be known before a long job comes from Create, and nothing appears.
func TestCommitsThatFail(t *testing.T) {
	s := start(t)
	s.Put("/datasets/o/n/x", nil)
	large := bytes.Repeat([]byte("x"), remotetest.Part+1)
	answer := func(path, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			found := strings.HasSuffix(r.URL.Path, path)
			if found {
				fmt.Fprint(w, text)
			}
			return found
		}
	}
	sum := sha256.Sum256(large)
	object := func(rest string) string {
		return fmt.Sprintf(`{"transfer": "multipart", "objects": [{"oid": "%x", "size": %d, %s}]}`, sum, len(large), rest)
	}
	batch := func(of string) func(http.ResponseWriter, *http.Request) bool {
		n := 0
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/batch") {
				return false
			}
			if n++; n == 1 { // that of Create
				return false
			}
			fmt.Fprint(w, of)
			return true
		}
	}
	for _, c := range []struct {
		what, name, token string
		before            func(http.ResponseWriter, *http.Request) bool
		want              string
	}{
		{"no token", "x", "", nil, "create: the server says 401 Unauthorized: Invalid username or password: the token in HF_TOKEN, or that of hf auth login, must have permission to write"},
		{"token of a reader", "x", "hf_reader", nil, "create: the server says 403 Forbidden: Authorization error: the token in HF_TOKEN"},
		{"no repository", "hf://datasets/o/none/x", remotetest.HubToken, nil, "create: no such file or directory: there is no such repository, or the token may not read it"},
		{"no branch", "hf://datasets/o/n@none/x", remotetest.HubToken, nil, "create: no such file or directory: the repository has no such branch or revision"},
		{"excluded", "x.ignored", remotetest.HubToken, nil, "create: the file .gitignore of the repository excludes it"},
		{"above", "a/../x", remotetest.HubToken, nil, `create: a repository cannot have a file "a/../x"`},
		{"git", ".git/config", remotetest.HubToken, nil, `create: a repository cannot have a file ".git/config"`},
		{"Xet", "x", remotetest.HubToken, answer("/batch", `{"transfer": "xet", "objects": []}`), `create: the server accepts large files only by the protocol "xet": write a local file`},
		{"no preupload", "x", remotetest.HubToken, answer("/main", `{"files": []}`), "create: the server does not say how the file is stored"},
		{"no JSON", "x", remotetest.HubToken, answer("/main", `<html>`), "create: the answer of /api/datasets/o/n/preupload/main is not the expected JSON"},
		{"other object", "x", remotetest.HubToken, batch(`{"objects": [{"oid": "00", "size": 1}]}`), "send: the server does not say where to send the file"},
		{"object refused", "x", remotetest.HubToken, batch(object(`"error": {"code": 422, "message": "no space"}`)), "send: the server does not accept the file: no space"},
		{"no URL", "x", remotetest.HubToken, batch(object(`"actions": {"upload": {"href": "/x"}}`)), "send: the server names an address that is not a URL"},
		{"part without address", "x", remotetest.HubToken, batch(object(`"actions": {"upload": {"href": "` + s.URL + `/x", "header": {"chunk_size": "100000000"}}}`)), "send: part 1: the server names an address that is not a URL"},
		{"no parts", "x", remotetest.HubToken, batch(object(`"actions": {"upload": {"href": "` + s.URL + `/x", "header": {"chunk_size": "0"}}}`)), `send: the server wants parts of "0" bytes`},
		{"never verified", "x", remotetest.HubToken, answer("/verify", ""), "publish: the server says 400 Bad Request: line 1"},
		{"no id", "x", remotetest.HubToken, answer("/commit/main", "{}"), "publish: the server does not say which commit has the file"},
		{"always a conflict", "x", remotetest.HubToken, func(w http.ResponseWriter, r *http.Request) bool {
			if conflict := strings.Contains(r.URL.Path, "/commit/"); !conflict {
				return false
			}
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, `{"error": "A commit has happened since. Please refresh and try again."}`)
			return true
		}, "publish: the server says 412 Precondition Failed: A commit has happened since. Please refresh and try again"},
	} {
		t.Setenv("HF_TOKEN", c.token)
		s.Before = c.before
		if !strings.Contains(c.name, "://") {
			c.name = "hf://datasets/o/n/" + c.name
		}
		before := len(s.Commits())
		err := sendOne(t, c.name, large)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || len(s.Commits()) > before {
			t.Errorf("%s: %v; want %q; %v", c.what, err, c.want, s.Commits())
		}
	}
}

// TestTokensAndAddresses checks where tokens come from and go to, and that addresses are renewed.
func TestTokensAndAddresses(t *testing.T) {
	s := start(t)
	s.Put("/datasets/o/n/x", nil)
	large := bytes.Repeat([]byte("x"), 3*remotetest.Part)
	t.Setenv("HF_TOKEN", "")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(remotetest.HubToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HF_TOKEN_PATH", file)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		expired := r.URL.Query().Get("signature") == "2" // the addresses of the first batch, except for that of Create
		if expired {
			w.WriteHeader(http.StatusForbidden)
		}
		return expired
	}
	if err := sendOne(t, "hf://datasets/o/n/x", large); err != nil {
		t.Error(err)
	}
	if got, _ := s.Get("/datasets/o/n/x"); !bytes.Equal(got, large) {
		t.Errorf("%d bytes", len(got))
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	if err := sendOne(t, "hf://datasets/o/n/x", large[1:]); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("addresses that are never valid: %v", err)
	}
	// Only the Hub gets the token; a proxy passes on addresses of the Hub itself.
	c := &commit{put: put{t: &target{}}}
	for href, want := range map[string]string{hubDefault + "/a?b": s.URL + "/a?b true", "http://other.example/a": "http://other.example/a false"} {
		for _, token := range []bool{true, false} {
			to, err := c.address(href, token)
			if got := fmt.Sprint(to.url, " ", to.sign != nil || !token); err != nil || token && got != want || !token && to.sign != nil {
				t.Errorf("%s: %s, %v", href, got, err)
			}
		}
	}
}

// TestConflicts makes other commits at the same time.
func TestConflicts(t *testing.T) {
	s := start(t)
	s.Put("/datasets/o/n/x", nil)
	codes := []int{http.StatusPreconditionFailed, http.StatusConflict, http.StatusPreconditionFailed}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if len(codes) == 0 || !strings.Contains(r.URL.Path, "/commit/") {
			return false
		}
		w.WriteHeader(codes[0])
		codes = codes[1:]
		return true
	}
	if err := sendOne(t, "hf://datasets/o/n/x", []byte("content")); err != nil || len(codes) > 0 || len(s.Commits()) != 1 {
		t.Error(err, codes, s.Commits())
	}
	up, err := place.Create(t.Context(), "hf://datasets/o/n/y")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"hf://datasets/o/n@refs/pr/1/y", "s3://bkt/y"} {
		s.Put("/datasets/o/n@refs/pr/1/x", nil)
		if b, err := place.Create(t.Context(), other); err != nil || place.Include(up, b) || place.Include(b, up) {
			t.Errorf("%s in one commit with another branch; %v", other, err)
		}
	}
	released := 0
	up.Send(t.Context(), strings.NewReader("abc"), 3, func() { released++ })
	up.Drop()
	up.Drop()
	if _, ok := s.Get("/datasets/o/n/y"); ok || released != 1 {
		t.Errorf("dropped: %v, released %d times", ok, released)
	}
}

// TestEarlyAnswers repeats requests whose bodies the server did not read: each attempt sends the whole body,
// while the transport may still read that of the one before.
func TestEarlyAnswers(t *testing.T) {
	before := pause
	pause = time.Microsecond
	defer func() { pause = before }()
	content := noise(seeded(t), 4<<20)
	n, got := 0, []byte(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n%repetitions != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	for range 5 {
		if err := sendOne(t, s.URL+"/x", content); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes arrived, equal: %v; %v", len(got), bytes.Equal(got, content), err)
		}
	}
}
