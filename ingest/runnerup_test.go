package ingest

import (
	"context"
	"strings"
	"testing"

	"reprise/ingest/decode"
)

// Formats that look alike: the right one wins, and the other is named.
func TestRunnerUp(t *testing.T) {
	for want, text := range map[string]string{
		"qwen-bailian before mooncake-blocks":  `{"chat_id":0,"parent_chat_id":-1,"timestamp":1.5,"input_length":20,"output_length":4,"turn":1,"hash_ids":[0,1]}`,
		"mooncake before ":                     `{"timestamp":0,"input_length":600,"output_length":4,"hash_ids":[0,1]}`,
		"mooncake-blocks before mooncake":      `{"timestamp":0,"input_length":20,"output_length":4,"hash_ids":[0,1]}`,
		"azure-lmm-2025 before azure-llm-2023": "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15 00:00:00.03,1,1430,9",
		"azure-llm-2023 before azure-lmm-2025": "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-10-15 00:00:00.03,1430,9",
		"otlp-joined before otlp":              `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b","name":" Req a","attributes":{"rid":"a","module":"sglang::request"}}]}]}]}`,
		"jaeger before ":                       `{"traceID":"a","spanID":"b","operationName":"chat","startTime":1795961900757000,"duration":1,"tags":[{"key":"gen_ai.operation.name","value":"chat"}]}`,
		"langfuse before litellm":              `{"id":"o1","traceId":"t1","type":"GENERATION","startTime":"2026-11-24T14:00:00Z","completionStartTime":"2026-11-24T14:00:01Z","endTime":"2026-11-24T14:00:02Z"}`,
		"burstgpt before ":                     "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,1,2.5,ChatGPT,472,18,490,Conversation log",
	} {
		acc, err := Run(context.Background(), Options{Run: t.TempDir(), Stdin: strings.NewReader(text + "\n"), Options: decode.Options{Hash: decode.NewHasher(make([]byte, 16))}}, "-")
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		format, other, _ := strings.Cut(want, " before ")
		in := acc.Inputs[0]
		if in.Format != format || in.RunnerUp != other || in.Kept != 1 {
			t.Errorf("%s: read as %s, runner-up %q, %+v", want, in.Format, in.RunnerUp, in)
		}
	}
}
