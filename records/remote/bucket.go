package remote

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
	"gopkg.in/ini.v1"

	"github.com/simdb/simdb/internal/place"
)

// service is a store with the interface of S3. Requests are sent by this package and not by the
// client of minio-go, whose signatures and credentials it uses: that client would add 1.2 MB to the
// program, and has neither bearer tokens nor reading that continues after a broken connection.
type service struct {
	scheme   string
	endpoint func() (address, region string, err error) // "" is Amazon's
	sign     func(r *http.Request, region string) error
	hint     string // what to do if access is denied
}

var s3 = service{
	scheme: "s3", endpoint: s3Endpoint, sign: signS3,
	hint: ": the credentials come from AWS_ACCESS_KEY_ID or the profile AWS_PROFILE; without any, only public files can be read",
}

var gs = service{
	scheme: "gs", endpoint: gsEndpoint, sign: signGS,
	hint: ": export CLOUDSDK_AUTH_ACCESS_TOKEN=$(gcloud auth print-access-token), or name the key of a service account in GOOGLE_APPLICATION_CREDENTIALS; without credentials, only public files can be read",
}

// regions has the region of each bucket that is elsewhere than the endpoint says.
var regions sync.Map

// target returns the target of the name of a file or, with an empty key, of a bucket.
func (s service) target(_ context.Context, name string) (*target, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(name, s.scheme+"://"), "/")
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return nil, fmt.Errorf("it is not %s://BUCKET/KEY: %w", s.scheme, err)
	}
	return s.at(name, bucket, key)
}

// at returns the target of a key in a bucket.
func (s service) at(name, bucket, key string) (*target, error) {
	address, region, err := s.endpoint()
	if err != nil {
		return nil, err
	}
	if known, ok := regions.Load(bucket); ok && address == "" {
		region = known.(string)
	}
	host := "" // of Amazon, before the region
	if address == "" {
		address = "https://s3." + region + ".amazonaws.com"
		if !strings.Contains(bucket, ".") { // a certificate covers one level of names
			host = bucket
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the endpoint %q is not a URL such as http://localhost:9000", address)
	}
	if host != "" {
		u.Host, u.Path = host+"."+u.Host, "/"+key
	} else {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + bucket + "/" + key
	}
	u.RawPath = s3utils.EncodePath(u.Path) // the form that is signed
	t := &target{name: name, url: u, hint: s.hint, gzip: s.scheme == "gs"}
	t.sign = func(r *http.Request) error { return s.sign(r, region) }
	t.moved = func(resp *http.Response) bool {
		found := resp.Header.Get("X-Amz-Bucket-Region")
		if found == "" || found == region {
			return false
		}
		regions.Store(bucket, found)
		there, err := s.at(name, bucket, key)
		if err != nil {
			return false
		}
		t.url, region = there.url, found
		return true
	}
	return t, nil
}

// profile returns a section of ~/.aws/config.
func profile() (*ini.Section, error) {
	home, _ := os.UserHomeDir()
	file := cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config"))
	config, err := ini.LooseLoad(file) // it need not exist
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	name := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	if name != "default" {
		name = "profile " + name
	}
	return config.Section(name), nil
}

func s3Endpoint() (address, region string, err error) {
	p, err := profile()
	if err != nil {
		return "", "", err
	}
	region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), p.Key("region").String(), "us-east-1")
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), p.Key("endpoint_url").String()), region, nil
}

func gsEndpoint() (address, region string, err error) {
	address = cmp.Or(os.Getenv("STORAGE_EMULATOR_HOST"), "https://storage.googleapis.com")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	return address, "auto", nil
}

// instance provides the credentials of a container or of an EC2 instance. Where there is neither,
// the search ends after a second.
type instance struct{ credentials.IAM }

// RetrieveWithCredContext finds credentials; none are anonymous ones.
func (i *instance) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	told := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") + os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") + os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if told == "" && strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return credentials.Value{}, nil
	}
	wait := 30 * time.Second
	if told == "" {
		wait = time.Second
	}
	v, err := i.IAM.RetrieveWithCredContext(&credentials.CredContext{Client: &http.Client{Timeout: wait}})
	if err != nil && told == "" {
		return credentials.Value{}, nil
	}
	return v, err
}

// file provides the credentials of a profile. That the default profile has none is no error.
type sharedFile struct{ credentials.FileAWSCredentials }

// RetrieveWithCredContext finds credentials.
func (f *sharedFile) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := f.FileAWSCredentials.RetrieveWithCredContext(cc)
	if err != nil && os.Getenv("AWS_PROFILE") == "" && (errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "does not exist")) {
		return v, nil
	}
	return v, err
}

// awsKeys has the credentials that were found first, by profile and the files and keys that could
// change, until they expire.
var awsKeys sync.Map

// signS3 signs a request with the credentials that the AWS tools would use.
func signS3(r *http.Request, region string) error {
	var key strings.Builder
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		key.WriteString(os.Getenv(name) + "\x00")
	}
	found, _ := awsKeys.LoadOrStore(key.String(), []*credentials.Credentials{
		credentials.New(&credentials.EnvAWS{}), credentials.New(&sharedFile{}), credentials.New(&instance{}),
	})
	for _, c := range found.([]*credentials.Credentials) { // a chain would hide errors
		v, err := c.GetWithContext(nil)
		if err != nil {
			return err
		}
		if v.AccessKeyID != "" && v.SecretAccessKey != "" {
			signWith(r, v, region)
			return nil
		}
	}
	return nil
}

func signWith(r *http.Request, v credentials.Value, region string) {
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	signer.SignV4(*r, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, region)
}

// page is a part of a list of keys.
type page struct {
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
	Contents              []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
}

// list lists the files of a bucket, see place.Store.
func (s service) list(ctx context.Context, prefix string, deep bool, each func(string, fs.FileInfo)) error {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(prefix, s.scheme+"://"), "/")
	if !ok {
		return errors.New("a bucket cannot be a pattern")
	}
	t, err := s.target(ctx, s.scheme+"://"+bucket+"/")
	if err != nil {
		return err
	}
	query := url.Values{"list-type": {"2"}, "prefix": {key}, "encoding-type": {"url"}} // XML has no control characters
	if !deep {
		query.Set("delimiter", "/")
	}
	for {
		var p page
		if err := t.decode(ctx, request{query: query}, &p); err != nil {
			return err
		}
		for _, c := range p.Contents {
			if p.EncodingType == "url" {
				if c.Key, err = url.QueryUnescape(c.Key); err != nil {
					return err
				}
			}
			if strings.HasSuffix(c.Key, "/") { // an empty file that stands for a folder
				continue
			}
			name := s.scheme + "://" + bucket + "/" + c.Key
			each(name, &info{id: place.ID{Name: name, ETag: c.ETag}, size: c.Size, time: c.LastModified})
		}
		if !p.IsTruncated {
			return nil
		}
		if p.NextContinuationToken == "" || p.NextContinuationToken == query.Get("continuation-token") {
			return errors.New("the list of files does not end")
		}
		query.Set("continuation-token", p.NextContinuationToken)
	}
}

// decode sends a request and decodes the answer, which is XML. An error may come with status 200.
func (t *target) decode(ctx context.Context, r request, to any) error {
	resp, err := t.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	d := xml.NewDecoder(resp.Body)
	for {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("the answer is not XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "Error":
			var a answer
			err := d.DecodeElement(&a, &start)
			return errors.Join(err, fmt.Errorf("the server says %s: %s", a.Code, a.Message))
		default:
			return d.DecodeElement(to, &start)
		}
	}
}
