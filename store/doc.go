// Package store reads and writes objects of an S3 bucket: s3://BUCKET/KEY.
//
// Contract: an object is there whole or not at all. A write becomes visible when its last part has arrived; a read that is
// cut off goes on where it was, of the same object or not at all (If-Match). Requests that fail for reasons that pass
// (503, 429, a lost connection) are tried again with growing pauses; a connection on which nothing moves for two minutes
// counts as lost. Errors say what to do and never hold a key, a token or a signature.
//
// Flow: Open takes a URL apart and finds credentials (AWS_ACCESS_KEY_ID ..., ~/.aws/credentials and ~/.aws/config with
// AWS_PROFILE, the role of the pod, task or machine). AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL name a server of one's own,
// which is asked in path style. Find lists what a URL, a folder or a glob stands for; Mirror makes a local copy of some of it
// in a cache, where an object stays as long as its etag is the same; Put and Remove change the bucket.
//
// A cache is a folder of copies, one for each URL, each with a lock: shared by those who read it, alone for the one who
// brings it up to date. What was not read for longest goes when the cache grows beyond its bound.
package store
