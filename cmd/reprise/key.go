package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// minKey is the least number of bytes that make a key.
const minKey = 16

// loadKey reads the key for hashes, making one on first use in the person's configuration folder. A key that others can
// read is refused. id tells keys apart without giving them away.
func loadKey(path string) (key []byte, id string, err error) {
	own := path == ""
	if own {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, "", hinted(fmt.Errorf("no place for the hashing key: %w", err), "say where it is: --key-file FILE")
		}
		path = filepath.Join(dir, "reprise", "key")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && own {
		text, err = makeKey(path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading hashing key: %w", err)
	}
	if st, err := os.Stat(path); err == nil && st.Mode().Perm()&0o077 != 0 {
		return nil, "", hinted(fmt.Errorf("%s: expected a key that only you can read, got mode %04o: who has it can try names against the hashes", path, st.Mode().Perm()),
			"chmod 600 %s", path)
	}
	key = []byte(strings.TrimSpace(string(text)))
	if len(key) < minKey {
		return nil, "", fmt.Errorf("%s: expected a key of at least %d bytes, got %d", path, minKey, len(key))
	}
	sum := sha256.Sum256(key)
	return key, hex.EncodeToString(sum[:6]), nil
}

// makeKey writes a random key of mode 0600. Two processes that start together agree on the first one's.
func makeKey(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	text := []byte(hex.EncodeToString(raw) + "\n")
	if _, err := f.Write(text); err != nil {
		f.Close()
		return nil, err
	}
	return text, f.Close()
}
