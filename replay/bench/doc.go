// Command bench measures how exact this client is beside others, in one run against one server of known timing (fakellm with a
// Timeline, in a process of its own): `make bench-peers`, or `go run ./replay/bench -h`.
//
// Flow: load.go says what is sent; serve.go is the server, which stamps the arrival of requests in the kernel; tools.go runs reprise and
// plain.go, a client as anybody writes it (net/http, time.Sleep); peers.go runs AIPerf, GuideLLM and inference-perf out of environments that it
// installs once; sample.go watches processor time and memory of all processes of a tool; figures.go joins what a tool says with the
// server's truth; table.go prints Markdown.
//
// Contract: an error of a tool is its value minus the server's truth. What the server cannot know of itself does not count: a chunk
// arrives somewhere between the call of write and its return, and an error is the distance from there. Beside each figure stands the floor:
// how late the server wrote, how late a sleeping thread woke, what share of the machine others burnt meanwhile.
package main
