package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// googleFile is a file as GOOGLE_APPLICATION_CREDENTIALS names it: the key of a service account, or what
// `gcloud auth application-default login` writes.
type googleFile struct {
	Type         string
	ClientEmail  string `json:"client_email"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	TokenURI     string `json:"token_uri"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// googleToken is a token of a file, until it expires.
type googleToken struct {
	mu      sync.Mutex
	token   string
	expires time.Time
}

// googleTokens has the tokens by the names of their files.
var googleTokens sync.Map

const (
	googleScope = "https://www.googleapis.com/auth/devstorage.read_write"
	tokenLeft   = time.Minute // a token that expires sooner is not used any more
)

// signGS adds a token to a request, or signs it with an HMAC key.
func signGS(r *http.Request, region string) error {
	token := cmp.Or(os.Getenv("CLOUDSDK_AUTH_ACCESS_TOKEN"), os.Getenv("GOOGLE_OAUTH_ACCESS_TOKEN"))
	v := credentials.Value{AccessKeyID: os.Getenv("GS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("GS_SECRET_ACCESS_KEY")}
	file := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS")
	switch {
	case token != "":
	case v.AccessKeyID != "" && v.SecretAccessKey != "":
		signWith(r, v, region)
		return nil
	case file == "":
		return nil
	case !confidential(r.URL):
		return errors.New("a token of GOOGLE_APPLICATION_CREDENTIALS is only sent over https")
	default:
		held, _ := googleTokens.LoadOrStore(file, new(googleToken))
		var err error
		if token, err = held.(*googleToken).get(r.Context(), file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// confidential reports whether a connection is encrypted, or does not leave this machine.
func confidential(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// get returns a token. It reads the file again for each new one, so that a key can be replaced.
func (t *googleToken) get(ctx context.Context, name string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Until(t.expires) > tokenLeft {
		return t.token, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", errors.Unwrap(err) // the caller names the file
	}
	var f googleFile
	if err := json.Unmarshal(text, &f); err != nil {
		return "", errors.New("it is not a JSON file of Google credentials")
	}
	f.TokenURI = cmp.Or(f.TokenURI, "https://oauth2.googleapis.com/token")
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {f.ClientID}, "client_secret": {f.ClientSecret}, "refresh_token": {f.RefreshToken}}
	switch f.Type {
	case "service_account":
		assertion, err := f.assertion(time.Now())
		if err != nil {
			return "", err
		}
		form = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	case "authorized_user":
	default:
		return "", fmt.Errorf("its type is %q, not service_account or authorized_user: CLOUDSDK_AUTH_ACCESS_TOKEN=$(gcloud auth print-access-token) has a token of any account", f.Type)
	}
	t.token, t.expires, err = requestToken(ctx, f.TokenURI, form)
	return t.token, err
}

// assertion returns a signed statement of a service account, which the server exchanges for a token: a JWT
// (RFC 7523) with RS256.
func (f *googleFile) assertion(now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(f.PrivateKey))
	if block == nil {
		return "", errors.New("private_key is not a key in PEM")
	}
	// As x509.ParsePKCS8PrivateKey does; that would add 130 KB for other kinds of keys to the program.
	var pkcs8 struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	var key *rsa.PrivateKey
	_, err := asn1.Unmarshal(block.Bytes, &pkcs8)
	if err == nil {
		key, err = x509.ParsePKCS1PrivateKey(pkcs8.Key)
	}
	if err != nil {
		return "", errors.New("private_key is not an RSA key in PKCS #8")
	}
	var b bytes.Buffer
	for i, part := range []map[string]any{
		{"alg": "RS256", "typ": "JWT", "kid": f.PrivateKeyID},
		{"iss": f.ClientEmail, "scope": googleScope, "aud": f.TokenURI, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()},
	} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(base64.RawURLEncoding.EncodeToString(text))
	}
	sum := sha256.Sum256(b.Bytes())
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return b.String() + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// requestToken asks a server for a token.
func requestToken(ctx context.Context, address string, form url.Values) (token string, expires time.Time, err error) {
	u, err := url.Parse(address)
	if err != nil || !confidential(u) {
		return "", expires, errors.New("token_uri is not an https URL")
	}
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	stay := func(*http.Response) bool { return false } // no other address gets the secret
	body := strings.NewReader(form.Encode())
	resp, err := (&target{url: u, moved: stay}).do(ctx, request{
		method: http.MethodPost, header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, body: body, size: body.Size(),
	})
	if err != nil {
		return "", expires, fmt.Errorf("%s gives no token: %v", u.Host, err) // not an error of the file that is read
	}
	defer resp.Body.Close()
	var said struct {
		Token   string  `json:"access_token"`
		Seconds float64 `json:"expires_in"`
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && json.Unmarshal(text, &said) != nil || said.Token == "" {
		err = fmt.Errorf("%s gives no token: the server says %s", u.Host, resp.Status)
	}
	return said.Token, time.Now().Add(time.Duration(said.Seconds * float64(time.Second))), err
}
