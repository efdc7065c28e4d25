package versity

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const module, version = "github.com/versity/versitygw/cmd/versitygw", "v1.8.0"

// Keys of the server's one user, made up.
const AccessKey, SecretKey = "REPRISETEST", "not-a-secret-but-looks-like-one"

// Server is a running server. Objects of a bucket are files below Root/BUCKET.
type Server struct {
	Addr string // host and port
	Root string
	cmd  *exec.Cmd
}

// Start runs a server that keeps its data below dir, with one empty bucket. Stop it.
func Start(dir, bucket string) (*Server, error) {
	program, err := program()
	if err != nil {
		return nil, err
	}
	s := &Server{Root: filepath.Join(dir, "root")}
	side := filepath.Join(dir, "side") // in place of extended attributes, which not every file system has
	if err := errors.Join(os.MkdirAll(filepath.Join(s.Root, bucket), 0o755), os.MkdirAll(side, 0o755)); err != nil {
		return nil, err
	}
	if s.Addr, err = freeAddr(); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(program, "--port", s.Addr, "--quiet", "--keep-alive", "posix", "--sidecar", side, s.Root)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting versitygw: %w", err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", s.Addr)
		if err == nil {
			c.Close()
			return s, nil
		}
		if time.Now().After(deadline) {
			s.Stop()
			return nil, fmt.Errorf("versitygw does not answer: %w", err)
		}
	}
}

// Stop ends the server.
func (s *Server) Stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// Env is what a client of the server (or of a proxy before it, by its address) has in its environment. Nothing of the
// machine's own credentials is looked at.
func Env(addr, home string) []string {
	return []string{"AWS_ENDPOINT_URL=http://" + addr, "AWS_ENDPOINT_URL_S3=", "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_SESSION_TOKEN=",
		"AWS_REGION=us-east-1", "AWS_PROFILE=", "AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + filepath.Join(home, "none"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(home, "none")}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// program finds the server in the cache, or builds it there. Packages that are tested at the same time build it once.
func program() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "reprise-tools", "versitygw-"+version)
	file := filepath.Join(dir, "versitygw")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	build := exec.Command("go", "install", module+"@"+version)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("this test needs versitygw %s, a real S3 server, and it could not be built: %w\n%s\nbuild it when there is a network: make versitygw", version, err, out)
	}
	return file, nil
}
