package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/vfs"
)

// commit is a file that a commit adds to a repository of the Hub. A large file is sent before as an object of
// Git LFS, which nobody sees without the commit; the Hub removes objects that no commit names. The server says
// which files are large. See https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md; the transfer
// multipart and the calls preupload and commit are the Hub's own.
type commit struct {
	put    // content of a small file, for Publish
	file   hubFile
	object object // of a large file, once it is stored
	joined []*commit
	done   bool // published
}

// object is an object of Git LFS.
type object struct {
	OID  string `json:"oid"` // SHA-256 of the content
	Size int64  `json:"size"`
}

const (
	jsonType = "application/json"
	lfsType  = "application/vnd.git-lfs+json"
)

// createCommit begins to write a file. It fails if the repository or the branch does not exist, or the token
// does not allow writing, before a long job is done in vain. Only the request for an address of an object
// needs that permission; no object is sent there.
func createCommit(ctx context.Context, t *target) (place.Upload, error) {
	f, err := hub(t.name)
	if err != nil {
		return nil, err
	}
	if !fs.ValidPath(f.path) || slices.Contains(strings.Split(f.path, "/"), ".git") {
		return nil, fmt.Errorf("a repository cannot have a file %q", f.path)
	}
	c := &commit{put: put{t: t, release: func() {}}, file: f}
	if _, err := c.isLarge(ctx, nil); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(t.name))
	_, err = c.addresses(ctx, object{hex.EncodeToString(sum[:]), 1})
	return c, err
}

// call sends a JSON value, and decodes the answer unless to is nil.
func call(ctx context.Context, t *target, kind string, value, to any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return post(ctx, t, kind, bytes.NewReader(body), int64(len(body)), to)
}

func post(ctx context.Context, t *target, kind string, body io.ReaderAt, size int64, to any) error {
	t.hint = ": the token in HF_TOKEN, or that of hf auth login, must have permission to write to the repository"
	header := http.Header{"Content-Type": {kind}, "Accept": {strings.Replace(kind, "x-ndjson", "json", 1)}}
	resp, err := t.do(ctx, request{method: http.MethodPost, header: header, body: body, size: size})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return t.refused(resp)
	}
	if to == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
		return fmt.Errorf("the answer of %s is not the expected JSON: %w", t.url.Path, err)
	}
	return nil
}

// isLarge reports whether the Hub stores a file as an object. sample is the beginning of its content.
func (c *commit) isLarge(ctx context.Context, sample []byte) (bool, error) {
	t, err := c.file.api("preupload", "")
	if err != nil {
		return false, err
	}
	var said struct {
		Files []struct {
			Path, UploadMode string
			ShouldIgnore     bool
		}
	}
	type file struct {
		Path   string `json:"path"`
		Size   int64  `json:"size"`
		Sample []byte `json:"sample"`
	}
	if err := call(ctx, t, jsonType, map[string][]file{"files": {{c.file.path, c.size, append([]byte{}, sample...)}}}, &said); err != nil {
		return false, err
	}
	switch {
	case len(said.Files) != 1 || said.Files[0].Path != c.file.path || said.Files[0].UploadMode != "lfs" && said.Files[0].UploadMode != "regular":
		return false, errors.New("the server does not say how the file is stored")
	case said.Files[0].ShouldIgnore:
		return false, errors.New("the file .gitignore of the repository excludes it")
	}
	return said.Files[0].UploadMode == "lfs" && c.size > 0, nil // the storage of objects refuses empty ones
}

// Send sends the content of a large file; that of a small one is part of the commit.
func (c *commit) Send(ctx context.Context, content io.ReaderAt, size int64, release func()) error {
	if err := c.put.Send(ctx, content, size, release); err != nil {
		return err
	}
	sample := make([]byte, min(512, size))
	if _, err := content.ReadAt(sample, 0); err != nil && err != io.EOF {
		return err
	}
	large, err := c.isLarge(ctx, sample)
	if err != nil || !large {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(content, 0, size)); err != nil {
		return err
	}
	o := object{hex.EncodeToString(sum.Sum(nil)), size}
	for last := false; ; last = true {
		err := c.store(ctx, o)
		if err == nil {
			c.object = o
			c.Drop()
			return nil
		}
		if last || !errors.As(err, new(*statusError)) {
			return err
		}
		// Addresses are valid for some minutes only. New ones are also needed if the answer to the end of an upload
		// in parts was lost, which cannot be repeated.
	}
}

// action is a request that the server wants. In an upload by parts, Header has chunk_size and the address of each
// part by its number; the Hub sends no other headers.
type action struct {
	Href   string
	Header map[string]string
}

// actions are the requests that store an object: none if it is stored.
type actions struct{ Upload, Verify *action }

// addresses asks where to send an object.
func (c *commit) addresses(ctx context.Context, o object) (actions, error) {
	t, err := c.file.at(c.file.repo + ".git/info/lfs/objects/batch")
	if err != nil {
		return actions{}, err
	}
	var said struct {
		Transfer string
		Objects  []struct {
			object
			Actions actions
			Error   *struct{ Message string }
		}
	}
	err = call(ctx, t, lfsType, map[string]any{
		"operation": "upload", "transfers": []string{"basic", "multipart"}, "hash_algo": "sha256",
		"ref": map[string]string{"name": c.file.revision}, "objects": []object{o},
	}, &said)
	switch {
	case err != nil:
		return actions{}, err
	case !slices.Contains([]string{"", "basic", "multipart"}, said.Transfer):
		return actions{}, fmt.Errorf("the server accepts large files only by the protocol %q: write a local file, then send it by hf upload", said.Transfer)
	case len(said.Objects) != 1 || said.Objects[0].object != o:
		return actions{}, errors.New("the server does not say where to send the file")
	case said.Objects[0].Error != nil:
		return actions{}, fmt.Errorf("the server does not accept the file: %s", said.Objects[0].Error.Message)
	}
	return said.Objects[0].Actions, nil
}

// address returns the target of an address that the server chose. Only the Hub itself gets the token.
func (c *commit) address(href string, token bool) (*target, error) {
	if rest, ok := strings.CutPrefix(href, hubDefault+"/"); ok { // as a proxy passes it on
		href = strings.TrimSuffix(hubEndpoint(), "/") + "/" + rest
	}
	u, err := url.Parse(href)
	if err != nil || u.Host == "" {
		return nil, errors.New("the server names an address that is not a URL")
	}
	t := &target{name: c.t.name, url: u}
	if home, err := url.Parse(hubEndpoint()); err == nil && token && u.Host == home.Host && u.Scheme == home.Scheme {
		t.sign = signHub
	}
	return t, nil
}

// store stores an object.
func (c *commit) store(ctx context.Context, o object) error {
	a, err := c.addresses(ctx, o)
	if err != nil || a.Upload == nil {
		return err
	}
	if chunk, ok := a.Upload.Header["chunk_size"]; ok {
		err = c.sendParts(ctx, a.Upload, chunk, o)
	} else {
		var t *target
		if t, err = c.address(a.Upload.Href, false); err == nil {
			_, err = t.put(ctx, nil, io.NewSectionReader(c.content, 0, c.size))
		}
	}
	if err != nil || a.Verify == nil {
		return err
	}
	t, err := c.address(a.Verify.Href, true)
	if err != nil {
		return err
	}
	return call(ctx, t, jsonType, o, nil)
}

// sendParts sends an object in parts of chunk bytes.
func (c *commit) sendParts(ctx context.Context, upload *action, chunk string, o object) error {
	each, err := strconv.ParseInt(chunk, 10, 64)
	if err != nil || each <= 0 {
		return fmt.Errorf("the server wants parts of %q bytes", chunk)
	}
	parts := map[int]string{} // addresses
	for name, href := range upload.Header {
		if n, err := strconv.Atoi(name); err == nil {
			parts[n] = href
		}
	}
	sent, err := inParts(ctx, c.content, c.size, each, func(ctx context.Context, n int, part *io.SectionReader) (string, error) {
		t, err := c.address(parts[n], false)
		if err != nil {
			return "", fmt.Errorf("part %d: %w", n, err)
		}
		etag, err := t.put(ctx, nil, part)
		if err == nil && etag == "" {
			err = errors.New("the server gives no ETag of a part")
		}
		return etag, err
	})
	if err != nil {
		return err
	}
	t, err := c.address(upload.Href, false)
	if err != nil {
		return err
	}
	return call(ctx, t, lfsType, map[string]any{"oid": o.OID, "parts": sent}, nil)
}

// Include implements place.Joint: files of a repository and branch are published by one commit.
func (c *commit) Include(other place.Upload) bool {
	o, ok := other.(*commit)
	if ok = ok && o.file.repo == c.file.repo && o.file.revision == c.file.revision; ok {
		c.joined = append(c.joined, o)
	}
	return ok
}

// Publish commits the file, and the joined ones. A repetition, after an answer that was lost, gives the files
// the same content again: that commit is empty. It names no parent, so it needs no state of the branch; the
// Hub refuses it only if another commit is made at the same time.
func (c *commit) Publish(ctx context.Context) error {
	if c.done {
		return nil
	}
	all := append([]*commit{c}, c.joined...)
	t, err := c.file.api("commit", "")
	if err != nil {
		return err
	}
	body, err := vfs.Temp("", "simdb-commit-*")
	if err != nil {
		return err
	}
	defer vfs.RemoveTemp(body)
	if err := writeCommit(body, all); err != nil {
		return err
	}
	size, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	var said struct{ CommitOID string }
	for n := 1; ; n++ {
		err = post(ctx, t, "application/x-ndjson", body, size, &said)
		refused, ok := errors.AsType[*statusError](err)
		if !ok || refused.code != http.StatusPreconditionFailed && refused.code != http.StatusConflict || n > repetitions {
			break
		}
		if err := wait(ctx, n); err != nil {
			return err
		}
	}
	if err == nil && said.CommitOID == "" {
		err = errors.New("the server does not say which commit has the file")
	}
	if err != nil {
		return err
	}
	for _, each := range all {
		each.done = true
		each.Drop()
	}
	return nil
}

// writeCommit writes the lines of a commit, each a JSON object.
func writeCommit(w io.Writer, files []*commit) error {
	what := files[0].file.path
	if len(files) > 1 {
		what = fmt.Sprintf("%d files", len(files))
	}
	lines := json.NewEncoder(w)
	line := func(key string, value any) error { return lines.Encode(map[string]any{"key": key, "value": value}) }
	err := line("header", map[string]string{"summary": "Upload " + what + " with simdb", "description": ""})
	for _, c := range files {
		if err != nil {
			return err
		}
		if c.object.OID != "" {
			err = line("lfsFile", map[string]any{"path": c.file.path, "algo": "sha256", "oid": c.object.OID, "size": c.object.Size})
			continue
		}
		content := make([]byte, c.size) // the Hub wants files of some megabytes as objects
		if _, err = io.ReadFull(io.NewSectionReader(c.content, 0, c.size), content); err == nil {
			err = line("file", map[string]any{"path": c.file.path, "encoding": "base64", "content": content})
		}
	}
	return err
}
