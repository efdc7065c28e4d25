package store

import (
	"context"

	"github.com/minio/minio-go/v7"
)

// partBytes is the size of the pieces of a large object. S3 takes 10,000 of them: 640 GB.
const partBytes = 64 << 20

// Put writes a file as the object of that name below the place. It is seen when it is whole. Pieces of a write that was
// killed are never seen, but are kept by the server until a rule of the bucket (AbortIncompleteMultipartUpload) removes them.
func (p *Place) Put(ctx context.Context, name, file string) error {
	_, err := p.client.FPutObject(ctx, p.bucket, p.at(name), file, minio.PutObjectOptions{PartSize: partBytes, NumThreads: 2, ContentType: "application/octet-stream"})
	return p.fail("writing", name, err)
}

// Remove removes an object; one that is not there is no error.
func (p *Place) Remove(ctx context.Context, name string) error {
	return p.fail("removing", name, p.client.RemoveObject(ctx, p.bucket, p.at(name), minio.RemoveObjectOptions{}))
}
