package remote

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGoogleFiles reads a private file with the key of a service account and with a user's login. A token
// serves until it expires.
func TestGoogleFiles(t *testing.T) {
	start(t) // sets the environment
	t.Setenv("GS_ACCESS_KEY_ID", "")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	lasts, tries := 3600, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			switch tries++; tries % 3 { // a request for a token is repeated
			case 1:
				panic(http.ErrAbortHandler)
			case 2:
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			r.ParseForm()
			asked = append(asked, r.Form.Get("grant_type"))
			if said := wrongGrant(&key.PublicKey, "http://"+r.Host+"/token", r); said != "" {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error": "invalid_grant", "error_description": %q}`, said)
				return
			}
			fmt.Fprintf(w, `{"access_token": "token%d", "expires_in": %d, "token_type": "Bearer"}`, len(asked), lasts)
			return
		}
		if r.URL.Path == "/moved" { // the secret does not follow
			http.Redirect(w, r, "/token", http.StatusFound)
			return
		}
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token%d", len(asked)) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.ServeContent(w, r, "x", time.Time{}, strings.NewReader("content"))
	}))
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	account := map[string]string{
		"type": "service_account", "client_email": "reader@example.org", "private_key_id": "k1", "token_uri": server.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
	}
	user := map[string]string{"type": "authorized_user", "client_id": "id", "client_secret": "secret", "refresh_token": "refresh", "token_uri": server.URL + "/token"}
	write := func(of map[string]string, change ...string) {
		googleTokens.Clear()
		asked = nil
		changed := map[string]string{}
		for name, value := range of {
			changed[name] = value
		}
		for i := 0; i < len(change); i += 2 {
			changed[change[i]] = change[i+1]
		}
		text, _ := json.Marshal(changed)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []map[string]string{account, user} {
		for last, want := range map[int]int{3600: 1, 30: 3} {
			write(of)
			lasts = last
			for range 3 {
				if got, err := readOnce(t); got != "content" {
					t.Fatalf("%s: %q, %v", of["type"], got, err)
				}
			}
			if len(asked) != want && last == 3600 || len(asked) < want {
				t.Errorf("%s whose tokens last %d seconds: asked for %v", of["type"], last, asked)
			}
		}
	}
	for _, c := range []struct {
		of           map[string]string
		name, value  string
		want, secret string
	}{
		{account, "private_key", "x", "private_key is not a key in PEM", ""},
		{account, "private_key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})), "private_key is not an RSA key", ""},
		{account, "client_email", "other@example.org", "gives no token: the server says 400 Bad Request: invalid_grant unknown account", ""},
		{account, "token_uri", "http://example.org/token", "token_uri is not an https URL", ""},
		{account, "token_uri", server.URL + "/none", "gives no token: the server says 403 Forbidden", ""},
		{account, "type", "external_account", `its type is "external_account"`, ""},
		{user, "refresh_token", "geheim", "gives no token: the server says 400", "geheim"},
		{account, "token_uri", server.URL + "/moved", "gives no token: the server says 302 Found, and names no other address that is known", ""},
	} {
		write(c.of, c.name, c.value)
		if got, err := readOnce(t); err == nil || !strings.Contains(err.Error(), "credentials: "+file+": ") || !strings.Contains(err.Error(), c.want) || c.secret != "" && strings.Contains(err.Error(), c.secret) {
			t.Errorf("%s %s: %q, %v; want %s", c.name, c.value, got, err, c.want)
		}
	}
	os.WriteFile(file, []byte("no JSON"), 0o600)
	if _, err := readOnce(t); err == nil || !strings.Contains(err.Error(), "it is not a JSON file of Google credentials") {
		t.Error(err)
	}
	os.Remove(file)
	if _, err := readOnce(t); err == nil || !strings.Contains(err.Error(), file+": no such file") {
		t.Error(err)
	}
	write(account)
	t.Setenv("STORAGE_EMULATOR_HOST", "http://storage.example")
	if _, err := readOnce(t); err == nil || !strings.Contains(err.Error(), "only sent over https") || len(asked) != 0 {
		t.Errorf("a connection in the clear: %v, asked for %v", err, asked)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	t.Setenv("GS_ACCESS_KEY_ID", "k")
	if readOnce(t); len(asked) != 0 {
		t.Errorf("an HMAC key is there, and a token was requested: %v", asked)
	}
}

// readOnce reads gs://bkt/x.
func readOnce(t *testing.T) (string, error) {
	got, err := read("gs://bkt/x")
	return string(got), err
}

// wrongGrant says what is wrong with a request for a token.
func wrongGrant(key *rsa.PublicKey, address string, r *http.Request) string {
	if r.Form.Get("grant_type") == "refresh_token" {
		if r.Form.Get("refresh_token") != "refresh" || r.Form.Get("client_id") != "id" || r.Form.Get("client_secret") != "secret" {
			return "unknown login"
		}
		return ""
	}
	parts := strings.Split(r.Form.Get("assertion"), ".")
	if r.Form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		return "no assertion"
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return err.Error()
		}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], decoded[2]); err != nil {
		return err.Error()
	}
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	if !bytes.Equal(decoded[0], []byte(`{"alg":"RS256","kid":"k1","typ":"JWT"}`)) || json.Unmarshal(decoded[1], &claims) != nil {
		return "not a JWT of RS256"
	}
	now := time.Now().Unix()
	switch {
	case claims.Iss != "reader@example.org":
		return "unknown account"
	case claims.Aud != address || !strings.HasSuffix(claims.Scope, "/auth/devstorage.read_write"):
		return "for something else"
	case claims.Iat > now || claims.Iat < now-60 || claims.Exp != claims.Iat+3600:
		return "not now"
	}
	return ""
}
