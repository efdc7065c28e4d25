// Package selfcheck measures the replay client on the machine it runs on, against a server of known timing in the same
// process: how late requests leave, how far the times of chunks are from the truth, with the kernel's stamps and with the
// clock, and how many streams and requests a second it carries before one of these breaks a bound of the fidelity table
// (metrics.md part 6).
//
// Flow: [Run] sends plans of synthetic requests through package replay, exactly as a replay does, to fakellm; trial.go joins
// what the client recorded with the server's truth; ladder.go raises a load until it is too much.
//
// Contract: the server shares processors and collector with the client, so what is carried is a lower bound for a target
// elsewhere. Each figure has its floor beside it: how late the server itself was, how late a sleeping thread wakes here.
package selfcheck
