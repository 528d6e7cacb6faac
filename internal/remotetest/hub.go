package remotetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// How the Hub stores files: those of at least Large bytes as objects of Git LFS, and objects of more than Part
// bytes arrive in parts of Part bytes.
const (
	HubToken = "hf_example" // the token that may write
	Large    = 20_000
	Part     = 50_000
)

// hubCall matches the path of a call of the Hub: models, datasets/ or spaces/, the repository, what is wanted.
var hubCall = regexp.MustCompile(`^/(?:api/(models|datasets|spaces)/([^/]+/[^/]+)/(preupload|commit)/([^/]+)|((?:datasets/|spaces/)?[^/]+/[^/]+)\.git/info/lfs/(objects/batch|objects/verify))$`)

// Commits returns the commits of the Hub so far, as "REPOSITORY@REVISION: PATH PATH".
func (s *Server) Commits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commits)
}

// refusal is an error of the Hub.
type refusal struct {
	status        int
	code, message string
}

func (e *refusal) Error() string { return e.message }

func bad(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, "", fmt.Sprintf(format, args...)}
}

// hub answers a call that writes to the Hub. It returns false for any other request.
func (s *Server) hub(w http.ResponseWriter, r *http.Request, body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer any
	var err error
	if strings.HasPrefix(r.URL.Path, "/lfs/") {
		answer, err = s.lfsStorage(w, r, body)
	} else if m := hubCall.FindStringSubmatch(r.URL.EscapedPath()); m != nil && r.Method == http.MethodPost {
		repo, what := strings.TrimPrefix(m[1]+"/"+m[2], "models/"), m[3]+m[6]
		revision := strings.ReplaceAll(m[4], "%2F", "/")
		if m[6] != "" {
			repo = m[5]
		}
		switch {
		case r.Header.Get("Authorization") == "":
			err = &refusal{http.StatusUnauthorized, "", "Invalid username or password."}
		case !s.hasFolder("/" + repo + "/"):
			err = &refusal{http.StatusNotFound, "RepoNotFound", "Repository not found"}
		case m[6] == "" && revision != "main" && !s.hasFolder("/"+repo+"@"+revision+"/"):
			err = &refusal{http.StatusNotFound, "RevisionNotFound", "Invalid rev id: " + revision}
		case what != "preupload" && r.Header.Get("Authorization") != "Bearer "+HubToken: // the real one lets anyone request a preupload
			err = &refusal{http.StatusForbidden, "", "Authorization error."}
		default:
			answer, err = map[string]func(*http.Request, string, string, []byte) (any, error){
				"preupload": s.preupload, "objects/batch": s.batch, "objects/verify": s.verify, "commit": s.commit,
			}[what](r, repo, revision, body)
		}
	} else {
		return false
	}
	if err != nil {
		e, ok := errors.AsType[*refusal](err)
		if !ok {
			e = &refusal{http.StatusBadRequest, "", err.Error()}
		}
		w.Header().Set("X-Error-Code", e.code)
		w.Header().Set("X-Error-Message", e.message)
		w.WriteHeader(e.status)
		answer = map[string]string{"error": e.message}
	}
	if answer != nil {
		json.NewEncoder(w).Encode(answer)
	}
	return true
}

func (s *Server) hasFolder(prefix string) bool {
	for name := range s.files {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// strict decodes JSON whose fields are all known, of a type that a header names.
func strict(r *http.Request, kind string, body []byte, to any) error {
	if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); got != kind {
		return bad("the type is %q, not %q", got, kind)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return bad("more than one value")
	}
	return nil
}

func (s *Server) preupload(r *http.Request, _, _ string, body []byte) (any, error) {
	var asked struct {
		Files []struct {
			Path   *string `json:"path"`
			Sample *string `json:"sample"`
			Size   *int64  `json:"size"`
		} `json:"files"`
	}
	if err := strict(r, "application/json", body, &asked); err != nil {
		return nil, err
	}
	type file struct {
		Path         string  `json:"path"`
		UploadMode   string  `json:"uploadMode"`
		ShouldIgnore bool    `json:"shouldIgnore"`
		OID          *string `json:"oid"`
	}
	var files []file
	for _, f := range asked.Files {
		if f.Path == nil || f.Sample == nil || f.Size == nil {
			return nil, bad("path, sample and size are required")
		}
		sample, err := base64.StdEncoding.DecodeString(*f.Sample)
		if err != nil || int64(len(sample)) != min(*f.Size, 512) {
			return nil, bad("the sample of %s has %d bytes, of %d: %v", *f.Path, len(sample), *f.Size, err)
		}
		files = append(files, file{*f.Path, mode(*f.Path, *f.Size), strings.HasSuffix(*f.Path, ".ignored"), nil})
	}
	return map[string]any{"files": files}, nil
}

// mode tells how a file is stored. That of an empty file with an ending of large files depends on its name
// alone, as with the real one.
func mode(path string, size int64) string {
	if size >= Large || strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".sst") {
		return "lfs"
	}
	return "regular"
}

// lfsObject is an object of Git LFS.
type lfsObject struct {
	OID  string `json:"oid"`
	Size int64  `json:"size"`
}

func (s *Server) batch(r *http.Request, repo, _ string, body []byte) (any, error) {
	var asked struct {
		Operation string            `json:"operation"`
		Transfers []string          `json:"transfers"`
		HashAlgo  string            `json:"hash_algo"`
		Ref       map[string]string `json:"ref"`
		Objects   []lfsObject       `json:"objects"`
	}
	if err := strict(r, "application/vnd.git-lfs+json", body, &asked); err != nil {
		return nil, err
	}
	if asked.Operation != "upload" || !slices.Contains(asked.Transfers, "multipart") || asked.HashAlgo != "sha256" || asked.Ref["name"] == "" || r.Header.Get("Accept") != "application/vnd.git-lfs+json" {
		return nil, bad("not a request for uploads: %s", body)
	}
	type action map[string]any
	type object struct {
		lfsObject
		Actions map[string]action `json:"actions,omitempty"`
	}
	var objects []object
	for _, o := range asked.Objects {
		if raw, err := hex.DecodeString(o.OID); err != nil || len(raw) != sha256.Size || o.Size <= 0 {
			return nil, bad("%s of %d bytes is not an object", o.OID, o.Size)
		}
		answer := object{lfsObject: o}
		if !s.verified[o.OID] {
			s.signed++
			at := fmt.Sprintf("%s/lfs/%s?size=%d&signature=%d", strings.Replace(s.URL, "127.0.0.1", "localhost", 1), o.OID, o.Size, s.signed)
			upload := action{"href": at, "header": map[string]string{}}
			if o.Size > Part {
				header := map[string]string{"chunk_size": strconv.Itoa(Part)}
				for n := range int(math.Ceil(float64(o.Size) / Part)) {
					header[fmt.Sprintf("%05d", n+1)] = fmt.Sprintf("%s&part=%d", at, n+1)
				}
				upload = action{"href": at + "&complete", "header": header}
			}
			answer.Actions = map[string]action{"upload": upload, "verify": {"href": s.URL + "/" + repo + ".git/info/lfs/objects/verify"}}
		}
		objects = append(objects, answer)
	}
	return map[string]any{"transfer": "basic", "objects": objects}, nil
}

// lfsStorage accepts objects and their parts, at signed addresses.
func (s *Server) lfsStorage(w http.ResponseWriter, r *http.Request, body []byte) (any, error) {
	q, oid := r.URL.Query(), strings.TrimPrefix(r.URL.Path, "/lfs/")
	size, _ := strconv.Atoi(q.Get("size"))
	id := oid + " " + q.Get("signature")
	switch n, _ := strconv.Atoi(q.Get("part")); {
	case r.Header.Get("Authorization") != "":
		return nil, bad("only one kind of credentials is allowed")
	case q.Get("signature") == "":
		return nil, &refusal{http.StatusForbidden, "", "not signed"}
	case r.Method == http.MethodPut && n > 0:
		if want := min(Part, size-(n-1)*Part); len(body) != want {
			return nil, bad("part %d has %d bytes, not %d", n, len(body), want)
		}
		if s.uploads[id] == nil {
			s.uploads[id] = map[int][]byte{}
		}
		s.uploads[id][n] = body
		w.Header().Set("ETag", etag(body))
		return nil, nil
	case r.Method == http.MethodPut && size <= Part:
	case r.Method == http.MethodPost && q.Has("complete"):
		var asked struct {
			OID   string
			Parts []struct {
				PartNumber int
				ETag       string
			}
		}
		if err := strict(r, "application/vnd.git-lfs+json", body, &asked); err != nil || asked.OID != oid || len(asked.Parts) != (size+Part-1)/Part {
			return nil, bad("%s, %v", body, err)
		}
		if s.uploads[id] == nil {
			return nil, &refusal{http.StatusNotFound, "", "there is no such upload"}
		}
		body = nil
		for i, p := range asked.Parts {
			if p.PartNumber != i+1 || p.ETag != etag(s.uploads[id][i+1]) {
				return nil, bad("part %d does not exist", i+1)
			}
			body = append(body, s.uploads[id][i+1]...)
		}
		delete(s.uploads, id)
	default:
		return nil, bad("%s of %d bytes", r.Method, size)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != oid || len(body) != size {
		return nil, bad("the content of %d bytes is not that of %s", len(body), oid)
	}
	s.objects[oid] = body
	return nil, nil
}

func (s *Server) verify(r *http.Request, _, _ string, body []byte) (any, error) {
	var o lfsObject
	if err := strict(r, "application/json", body, &o); err != nil {
		return nil, err
	}
	if content, ok := s.objects[o.OID]; !ok || int64(len(content)) != o.Size {
		return nil, &refusal{http.StatusNotFound, "", "there is no such object"}
	}
	s.verified[o.OID] = true
	return nil, nil
}

func (s *Server) commit(r *http.Request, repo, revision string, body []byte) (any, error) {
	if r.Header.Get("Content-Type") != "application/x-ndjson" {
		return nil, bad("the type is %q", r.Header.Get("Content-Type"))
	}
	folder, paths := "/"+repo+"/", ""
	if revision != "main" {
		folder = "/" + repo + "@" + revision + "/"
	}
	add := map[string][]byte{}
	for n, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		var l struct {
			Key   string `json:"key"`
			Value struct {
				Summary, Description    *string // of the header
				Path, Content, Encoding string
				Algo, OID               string
				Size                    int64
			} `json:"value"`
		}
		r.Header.Set("Content-Type", "line")
		if err := strict(r, "line", line, &l); err != nil {
			return nil, err
		}
		v := l.Value
		switch {
		case n == 0 && l.Key == "header" && v.Summary != nil && *v.Summary != "" && v.Description != nil:
			continue
		case n > 0 && l.Key == "file" && v.Encoding == "base64":
			content, err := base64.StdEncoding.DecodeString(v.Content)
			if err != nil || mode(v.Path, int64(len(content))) == "lfs" && len(content) > 0 {
				return nil, bad("%s has %d bytes: %v", v.Path, len(content), err)
			}
			add[v.Path] = content
		case n > 0 && l.Key == "lfsFile" && v.Algo == "sha256" && s.verified[v.OID] && int64(len(s.objects[v.OID])) == v.Size && v.Size > 0:
			add[v.Path] = s.objects[v.OID]
		default:
			return nil, bad("line %d: %s", n, line)
		}
		paths += " " + v.Path
	}
	for path, content := range add {
		s.store(folder+path, content)
	}
	s.commits = append(s.commits, repo+"@"+revision+":"+paths)
	oid := fmt.Sprintf("%040d", len(s.commits))
	return map[string]any{"success": true, "commitOid": oid, "commitUrl": s.URL + "/" + repo + "/commit/" + oid, "hookOutput": ""}, nil
}
