package store

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const scheme = "s3://"

// Remote says whether a path is that of a bucket.
func Remote(path string) bool { return strings.HasPrefix(path, scheme) }

// Place is an object, or all objects below a prefix.
type Place struct {
	client      minio.Core
	bucket, key string // key without a slash at its end; "" is the whole bucket
	endpoint    string // host and port
}

// tries bounds how often a request is sent; pauses grow from 0.2 to 1 s, each of random length.
const tries = 12

// Open takes a URL s3://BUCKET/KEY apart and prepares a client. Nothing is sent yet.
func Open(path string) (*Place, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(path, scheme), "/")
	if !Remote(path) || bucket == "" || strings.ContainsAny(bucket, "@:?#") { // no echo: it may hold a password
		return nil, &Error{text: "expected s3://BUCKET/PREFIX", Hint: "credentials come from the environment, ~/.aws/credentials or the machine's role, never from the URL"}
	}
	if err := s3utils.CheckValidBucketNameStrict(bucket); err != nil {
		return nil, &Error{text: fmt.Sprintf("%s%s: %v", scheme, bucket, err), Hint: "expected s3://BUCKET/PREFIX"}
	}
	host, secure, err := endpoint()
	if err != nil {
		return nil, err
	}
	transport := transport()
	creds := chain(transport)
	if v, err := creds.Get(); err != nil || v.AccessKeyID == "" {
		return nil, &Error{text: "no credentials for " + path, Hint: credentialsHint}
	}
	client, err := minio.NewCore(host, &minio.Options{Creds: creds, Secure: secure, Transport: transport, Region: region(host), MaxRetries: tries})
	if err != nil {
		return nil, &Error{text: "preparing a client for " + host + ": " + err.Error()}
	}
	return &Place{client: *client, bucket: bucket, key: strings.TrimSuffix(key, "/"), endpoint: host}, nil
}

const awsHost = "s3.amazonaws.com"

// endpoint is the server that the environment names, by default Amazon's.
func endpoint() (host string, secure bool, err error) {
	name, text := "AWS_ENDPOINT_URL_S3", os.Getenv("AWS_ENDPOINT_URL_S3")
	if text == "" {
		name, text = "AWS_ENDPOINT_URL", os.Getenv("AWS_ENDPOINT_URL")
	}
	if text == "" {
		return awsHost, true, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return "", false, &Error{text: name + ": expected http://HOST:PORT or https://HOST without path or password"}
	}
	return u.Host, u.Scheme == "https", nil
}

// region is what the environment names. Amazon's own servers tell it otherwise; others seldom mind.
func region(host string) string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if r := os.Getenv(name); r != "" {
			return r
		}
	}
	if host == awsHost {
		return ""
	}
	return "us-east-1"
}

const credentialsHint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE with ~/.aws/credentials, or run where a role gives access"

func chain(t http.RoundTripper) *credentials.Credentials {
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		providers = append(providers, &credentials.IAM{Client: &http.Client{Transport: t, Timeout: 10 * time.Second}})
	}
	return credentials.New(&credentials.Chain{Providers: providers})
}

// stall is how long nothing may move on a connection.
const stall = 2 * time.Minute

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	t.DialContext = moving(dial)
	t.MaxIdleConnsPerHost = 16
	t.DisableCompression = true // an object that is gzip stays so
	return t
}

// String is the URL of the place.
func (p *Place) String() string { return p.url("") }

func (p *Place) url(name string) string {
	return strings.TrimSuffix(scheme+p.bucket+"/"+p.at(name), "/")
}

// at is the key of an object below the place; "" is the place itself.
func (p *Place) at(name string) string {
	return strings.Trim(p.key+"/"+name, "/")
}

// Error is an error of a bucket with advice on what to do; "" for none.
type Error struct {
	text  string
	Hint  string
	cause error // for errors.Is; its text may hold what nobody should read
}

func (e *Error) Error() string { return e.text }
func (e *Error) Unwrap() error { return e.cause }

// fail makes an error of what a server or the network said. Servers' own words are left out: some repeat what was signed.
func (p *Place) fail(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	why, hint := p.reason(err)
	return &Error{text: fmt.Sprintf("%s %s: %s", doing, p.url(name), why), Hint: hint, cause: err}
}

func (p *Place) reason(err error) (why, hint string) {
	answer := minio.ToErrorResponse(err)
	if answer.StatusCode == 0 {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL of the request
		}
		var n net.Error
		if errors.As(err, &n) {
			return err.Error(), "is the server there? it is " + p.endpoint + " (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL)"
		}
		return err.Error(), "run the same command again: what is whole stays"
	}
	why = fmt.Sprintf("%s (HTTP %d)", answer.Code, answer.StatusCode)
	switch code := answer.Code; {
	case code == "NoSuchBucket":
		return fmt.Sprintf("there is no bucket %q on %s", p.bucket, p.endpoint), "check its name, AWS_ENDPOINT_URL and AWS_REGION"
	case code == "PreconditionFailed":
		return "the object was replaced while it was read", "run the same command again"
	case code == "NoSuchKey":
		return "the object is gone", "it was there a moment ago: run the same command again"
	case code == "RequestTimeTooSkewed":
		return why, "the clock of this machine is off: set it"
	case code == "AuthorizationHeaderMalformed" || code == "PermanentRedirect":
		return why, "the bucket is in another region: set AWS_REGION"
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized || code == "ExpiredToken" || strings.HasSuffix(code, "UserNotFound"):
		return "access denied: " + why, credentialsHint
	case answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests:
		return fmt.Sprintf("the server is busy: %s, %d times in a row", why, tries), "run the same command again later: what is whole stays"
	}
	return why, ""
}
