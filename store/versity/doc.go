// Package versity runs a real S3 server, versitygw with a folder behind it, for tests.
//
// Contract: Start gives a server of its own on a free port of loopback, or an error that says what is missing. The program
// is built once into a cache outside of the checkout (a minute or two; make versitygw does it ahead of time), so that the
// module needs none of its many dependencies.
package versity
