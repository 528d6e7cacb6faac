package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/simdb/simdb/internal/place"
)

// hubName matches the name of a file of the Hub: the repository, its revision, the path. Revisions of
// conversions and of pull requests have slashes.
var hubName = regexp.MustCompile(`^hf://((?:datasets/|spaces/)?[^/@]+/[^/@]+)(?:@(refs/(?:convert|pr)/[^/]+|[^/]+))?/(.*)$`)

// hubFile is a file of the Hub, or a folder.
type hubFile struct {
	name     string // as the user wrote it
	repo     string // datasets/OWNER/NAME, spaces/OWNER/NAME or OWNER/NAME
	revision string
	path     string
}

func hub(name string) (f hubFile, err error) {
	m := hubName.FindStringSubmatch(name)
	if m == nil {
		return f, errors.New("it is not hf://datasets/OWNER/NAME[@REVISION]/PATH")
	}
	return hubFile{name, m[1], cmp.Or(m[2], "main"), m[3]}, nil
}

// at returns the target of a path of the server, whose elements are escaped.
func (f hubFile) at(elements ...string) (*target, error) {
	u, err := url.Parse(hubEndpoint())
	if err != nil {
		return nil, err
	}
	raw := strings.TrimSuffix(u.EscapedPath(), "/") + "/" + strings.TrimSuffix(strings.Join(elements, "/"), "/")
	if u.Path, err = url.PathUnescape(raw); err != nil {
		return nil, err
	}
	u.RawPath = raw
	return &target{name: f.name, url: u, sign: signHub, noMatch: true, hint: ": set HF_TOKEN, or hf auth login; gated repositories need an agreement on their page"}, nil
}

// api returns the target of a call of the Hub's API for the revision.
func (f hubFile) api(call, path string) (*target, error) {
	repo := f.repo
	if !strings.HasPrefix(repo, "datasets/") && !strings.HasPrefix(repo, "spaces/") {
		repo = "models/" + repo
	}
	return f.at("api", repo, call, url.PathEscape(f.revision), path)
}

const hubDefault = "https://huggingface.co"

func hubEndpoint() string { return cmp.Or(os.Getenv("HF_ENDPOINT"), hubDefault) }

// escaped escapes a path, except for its slashes.
func escaped(path string) string { return strings.ReplaceAll(url.PathEscape(path), "%2F", "/") }

func hubTarget(_ context.Context, name string) (*target, error) {
	f, err := hub(name)
	if err != nil {
		return nil, err
	}
	return f.at(f.repo, "resolve", url.PathEscape(f.revision), escaped(f.path))
}

// signHub adds a token to a request.
func signHub(r *http.Request) error {
	token := cmp.Or(os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))
	if token == "" {
		home, _ := os.UserHomeDir()
		folder := cmp.Or(os.Getenv("HF_HOME"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "huggingface"))
		b, err := os.ReadFile(cmp.Or(os.Getenv("HF_TOKEN_PATH"), filepath.Join(folder, "token")))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		token = strings.TrimSpace(string(b))
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// nextPage matches the address of the next part of a list in a header Link.
var nextPage = regexp.MustCompile(`<([^>]+)>;\s*rel="?next"?`)

// listHub lists files of a repository, see place.Store.
func listHub(ctx context.Context, prefix string, deep bool, each func(string, fs.FileInfo)) error {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	f, err := hub(folder)
	if err != nil {
		return err
	}
	t, err := f.api("tree", strings.TrimSuffix(escaped(f.path), "/"))
	if err != nil {
		return err
	}
	root := strings.TrimSuffix(folder, f.path)
	t.url.RawQuery = url.Values{"recursive": {map[bool]string{false: "false", true: "true"}[deep]}}.Encode()
	for {
		resp, err := t.do(ctx, request{})
		if err != nil {
			return err
		}
		var entries []struct {
			Type, Path string
			Size       int64
		}
		err = json.NewDecoder(resp.Body).Decode(&entries)
		resp.Body.Close()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if name := root + e.Path; e.Type == "file" && strings.HasPrefix(name, prefix) {
				each(name, &info{id: place.ID{Name: name}, size: e.Size})
			}
		}
		next := nextPage.FindStringSubmatch(resp.Header.Get("Link"))
		if next == nil {
			return nil
		}
		u, err := t.url.Parse(next[1])
		if err != nil || u.String() == t.url.String() || u.Host != t.url.Host {
			return errors.New("the list of files does not end")
		}
		t.url = u
	}
}
