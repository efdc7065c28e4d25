# docker build -t reprise .
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -ldflags=-s -tags timetzdata -o /reprise ./cmd/reprise && mkdir /data

# DuckDB needs glibc and libstdc++: Debian's, without a shell or anything else.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /reprise /usr/bin/reprise
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
# What is read from buckets is copied there, what is written to them is made there: mount a disk.
ENV XDG_CACHE_HOME=/data/cache XDG_CONFIG_HOME=/data/config TMPDIR=/data
WORKDIR /data
ENTRYPOINT ["/usr/bin/reprise"]
