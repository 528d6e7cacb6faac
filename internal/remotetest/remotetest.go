// Package remotetest is a server for tests of remote files, on the loopback interface: a web server,
// an S3 store that checks signatures, and a small Hugging Face Hub. Tests tell it to fail.
package remotetest

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Credentials of the server.
const (
	Key, Secret = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	Region      = "us-east-1"
)

// Server is a running server. Names of its files begin with a slash: /BUCKET/KEY. Fields may be
// changed while no request runs.
type Server struct {
	*httptest.Server
	NoRanges  bool                                                         // ignore the header Range
	NoTags    bool                                                         // send neither ETag nor Last-Modified
	Signed    bool                                                         // demand signatures
	Token     string                                                       // demand this bearer token, unless ""
	PageFiles int                                                          // files in a part of a list; 0: all
	Break     func(r *http.Request) (after int64)                          // bytes after which the connection breaks; negative: never
	Before    func(w http.ResponseWriter, r *http.Request) (answered bool) // is called first

	mu       sync.Mutex
	files    map[string][]byte
	changed  map[string]time.Time
	tags     map[string]string // ETags
	uploads  map[string]map[int][]byte
	log      []string
	sent     int64
	objects  map[string][]byte // of Git LFS
	verified map[string]bool
	signed   int // addresses for objects
	commits  []string
}

// Start starts a server, sets the environment so that s3, gs and hf use it, and ends it with the
// test.
func Start(t testing.TB) *Server {
	s := &Server{files: map[string][]byte{}, changed: map[string]time.Time{}, tags: map[string]string{}, uploads: map[string]map[int][]byte{}, objects: map[string][]byte{}, verified: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	none := filepath.Join(t.TempDir(), "none")
	for _, name := range []string{"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "HUGGING_FACE_HUB_TOKEN"} {
		t.Setenv(name, "")
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": Region, "AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret,
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
		"STORAGE_EMULATOR_HOST": s.URL, "GS_ACCESS_KEY_ID": Key, "GS_SECRET_ACCESS_KEY": Secret,
		"HF_ENDPOINT": s.URL, "HF_TOKEN": HubToken, "HF_TOKEN_PATH": none,
	} {
		t.Setenv(name, value)
	}
	return s
}

// Put stores a file.
func (s *Server) Put(name string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(name, slices.Clone(content))
}

func (s *Server) store(name string, content []byte) {
	s.files[name], s.changed[name], s.tags[name] = content, time.Now(), etag(content)
}

// Get returns the content of a file, and whether it exists.
func (s *Server) Get(name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.files[name]
	return b, ok
}

// Names returns the names of all files, sorted, and the number of unfinished uploads.
func (s *Server) Names() (names []string, uploads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.files)), len(s.uploads)
}

// Log returns the requests since the last call, as "METHOD path?query range", and the number of
// bytes of files that were sent.
func (s *Server) Log() (requests []string, sent int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, sent = s.log, s.sent
	s.log, s.sent = nil, 0
	return requests, sent
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.log = append(s.log, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Range")))
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.Before != nil && s.Before(w, r) {
		return
	}
	q := r.URL.Query()
	if s.Signed && !signed(r) || s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", "The request signature does not match.")
		return
	}
	name := r.URL.Path
	switch {
	case s.hub(w, r, body):
	case strings.HasPrefix(name, "/api/"):
		s.tree(w, r)
	case strings.Contains(name, "/resolve/"): // the Hub redirects to another server
		repo, rest, _ := strings.Cut(r.URL.EscapedPath(), "/resolve/")
		revision, path, _ := strings.Cut(rest, "/")
		at := strings.Replace("@"+strings.ReplaceAll(revision, "%2F", "/"), "@main", "", 1)
		http.Redirect(w, r, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/cdn"+repo+at+"/"+path, http.StatusFound)
	case q.Get("list-type") == "2":
		s.list(w, name, q)
	case r.Method == http.MethodPost || q.Has("uploadId"):
		s.upload(w, r, body)
	case r.Method == http.MethodPut:
		s.Put(name, body)
	default:
		s.get(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
}

// get sends a file.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/cdn")
	s.mu.Lock()
	content, ok := s.files[name]
	changed, tag := s.changed[name], s.tags[name]
	s.mu.Unlock()
	if !ok {
		refuse(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	}
	if s.NoTags {
		changed = time.Time{}
	} else {
		w.Header().Set("ETag", tag)
	}
	if s.NoRanges {
		r.Header.Del("Range")
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	to := &counting{ResponseWriter: w, s: s, left: -1}
	if s.Break != nil {
		to.left = s.Break(r)
	}
	http.ServeContent(to, r, "", changed, bytes.NewReader(content))
}

func etag(content []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(content)) }

// counting counts the bytes that are sent, and breaks the connection.
type counting struct {
	http.ResponseWriter
	s    *Server
	left int64 // negative: no limit
}

// Write sends bytes.
func (c *counting) Write(p []byte) (int, error) {
	if c.left >= 0 && int64(len(p)) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	if c.left >= 0 {
		c.left -= int64(len(p))
	}
	n, err := c.ResponseWriter.Write(p)
	c.s.mu.Lock()
	c.s.sent += int64(n)
	c.s.mu.Unlock()
	return n, err
}

// list sends a part of the list of the files of a bucket.
func (s *Server) list(w http.ResponseWriter, bucket string, q url.Values) {
	type content struct {
		Key, ETag    string
		Size         int
		LastModified string
	}
	var p struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		EncodingType          string   `xml:",omitempty"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []content
	}
	p.EncodingType = q.Get("encoding-type")
	names, _ := s.Names()
	for _, name := range names {
		key, ok := strings.CutPrefix(name, bucket)
		rest, below := strings.CutPrefix(key, q.Get("prefix"))
		if !ok || !below || key <= q.Get("continuation-token") || q.Get("delimiter") != "" && strings.Contains(rest, q.Get("delimiter")) {
			continue
		}
		if len(p.Contents) == cmp.Or(s.PageFiles, 1000) {
			p.IsTruncated = true
			break
		}
		p.NextContinuationToken = key
		b, _ := s.Get(name)
		p.Contents = append(p.Contents, content{url.QueryEscape(key), s.tags[name], len(b), s.changed[name].UTC().Format(time.RFC3339Nano)})
	}
	if !p.IsTruncated {
		p.NextContinuationToken = ""
	}
	xml.NewEncoder(w).Encode(p)
}

// upload answers requests of uploads in parts.
func (s *Server) upload(w http.ResponseWriter, r *http.Request, body []byte) {
	id := r.URL.Query().Get("uploadId")
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, ok := s.uploads[id]
	switch {
	case r.URL.Query().Has("uploads"):
		id = fmt.Sprint("upload+", len(s.log))
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchUpload", "There is no such upload.")
	case r.Method == http.MethodPut:
		n, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		parts[n] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		var done struct {
			Part []struct {
				PartNumber int
				ETag       string
			}
		}
		xml.Unmarshal(body, &done)
		var content []byte
		for i, p := range done.Part {
			if p.PartNumber != i+1 || p.ETag != etag(parts[i+1]) || len(done.Part) != len(parts) {
				w.WriteHeader(http.StatusOK) // an error may come after the status
				refuse(w, http.StatusOK, "InvalidPart", "One part could not be found.")
				return
			}
			content = append(content, parts[i+1]...)
		}
		s.store(r.URL.Path, content)
		delete(s.uploads, id)
		fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
	}
}

// tree sends a part of the list of the files of a repository.
func (s *Server) tree(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Size int    `json:"size"`
	}
	repository, folder, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api"), "/tree/main")
	names, _ := s.Names()
	all := []entry{{Type: "directory", Path: "folder"}}
	for _, name := range names {
		path, ok := strings.CutPrefix(name, repository+"/")
		below, in := strings.CutPrefix("/"+path, folder+"/")
		if !ok || !in || r.URL.Query().Get("recursive") != "true" && strings.Contains(below, "/") || path <= r.URL.Query().Get("cursor") {
			continue
		}
		if len(all) > cmp.Or(s.PageFiles, 1000) {
			q := r.URL.Query()
			q.Set("cursor", all[len(all)-1].Path)
			w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, r.URL.Path, q.Encode()))
			break
		}
		b, _ := s.Get(name)
		all = append(all, entry{"file", path, len(b)})
	}
	json.NewEncoder(w).Encode(all)
}

// signed reports whether a request has the signature of version 4 that it should have, see
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
func signed(r *http.Request) bool {
	fields := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != Key {
		return false
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + query + "\n"
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		if name == "content-length" {
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		canonical += name + ":" + value + "\n"
	}
	canonical += "\n" + fields["SignedHeaders"] + "\n" + r.Header.Get("X-Amz-Content-Sha256")
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + strings.Join(scope[1:], "/") + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + Secret)
	for _, part := range append(scope[1:], text) {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	return hex.EncodeToString(key) == fields["Signature"]
}
