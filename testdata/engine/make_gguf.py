"""Writes a llama-architecture GGUF of random weights (about 14 million parameters), in which every word of a list is one token.

usage: make_gguf.py WORDS OUT.gguf        needs numpy

Matrices are Q8_0, norms F32 ones, the vocabulary is of SentencePiece's kind: a word is joined from its pieces, so all beginnings of a word are
tokens, too. The chat template is ChatML. The answers are word salad; timing, batching, prefill and caching of an engine that runs it are real."""
import struct
import sys

import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, CONTEXT = 6, 384, 6, 2, 1152, 4096
TEXT, UINT, FLOAT, BOOL, INT, LIST = 8, 4, 6, 7, 5, 9  # types of GGUF
F32, Q8_0 = 0, 8
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # kinds of tokens
TEMPLATE = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
rng = np.random.default_rng(11)


def vocabulary(words):
    tokens = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|eom_id|>"]
    kinds = [UNKNOWN] + [CONTROL] * (len(tokens) - 1)
    scores = [0.0] * len(tokens)
    tokens += ["<0x%02X>" % b for b in range(256)]
    kinds += [BYTE] * 256
    scores += [0.0] * 256
    pieces = [chr(c) for c in range(33, 127)] + ["\u2581", "\n"]
    pieces += ["\u2581" + w[:i] for w in sorted(words) for i in range(1, len(w) + 1)]
    pieces = list(dict.fromkeys(pieces))
    pieces += ["\u2581fill%d" % i for i in range(-(len(tokens) + len(pieces)) % 256)]  # a whole number of blocks
    return tokens + pieces, kinds + [NORMAL] * len(pieces), scores + [-i / 1000 for i in range(len(pieces))]


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(kind, v):
    if kind == TEXT:
        return text(v)
    return struct.pack({UINT: "<I", FLOAT: "<f", BOOL: "<?", INT: "<i"}[kind], v)


def pair(key, kind, v):
    return text(key) + struct.pack("<I", kind) + value(kind, v)


def list_pair(key, kind, values):
    return text(key) + struct.pack("<IIQ", LIST, kind, len(values)) + b"".join(value(kind, v) for v in values)


def matrix(rows, columns, louder=()):
    """Q8_0: blocks of 32 numbers with one scale. louder are rows that are drawn more often, as the ends of an answer have to be."""
    blocks = np.zeros(rows * columns // 32, dtype=[("d", "<f2"), ("q", "i1", 32)])
    blocks["d"] = 1 / (60 * np.sqrt(rows))
    blocks["q"] = rng.integers(-127, 128, (len(blocks), 32), dtype=np.int8)
    for i in louder:
        blocks["d"][i * rows // 32:(i + 1) * rows // 32] *= 1.2
    return (rows, columns), Q8_0, blocks.tobytes()


def norm():
    return (WIDTH,), F32, np.ones(WIDTH, "<f4").tobytes()


def tensors(size):
    kv = WIDTH * KV_HEADS // HEADS
    yield "token_embd.weight", *matrix(WIDTH, size)
    for i in range(LAYERS):
        for name, shape in (("attn_norm", None), ("attn_q", (WIDTH, WIDTH)), ("attn_k", (WIDTH, kv)), ("attn_v", (WIDTH, kv)), ("attn_output", (WIDTH, WIDTH)),
                            ("ffn_norm", None), ("ffn_gate", (WIDTH, HIDDEN)), ("ffn_up", (WIDTH, HIDDEN)), ("ffn_down", (HIDDEN, WIDTH))):
            yield "blk.%d.%s.weight" % (i, name), *(matrix(*shape) if shape else norm())
    yield "output_norm.weight", *norm()
    yield "output.weight", *matrix(WIDTH, size, louder=range(4, 9))


def header(tokens, kinds, scores):
    p = [("general.architecture", TEXT, "llama"), ("general.name", TEXT, "random"), ("general.file_type", UINT, 7), ("llama.block_count", UINT, LAYERS),
         ("llama.context_length", UINT, CONTEXT), ("llama.embedding_length", UINT, WIDTH), ("llama.feed_forward_length", UINT, HIDDEN),
         ("llama.attention.head_count", UINT, HEADS), ("llama.attention.head_count_kv", UINT, KV_HEADS), ("llama.rope.dimension_count", UINT, WIDTH // HEADS),
         ("llama.attention.layer_norm_rms_epsilon", FLOAT, 1e-5), ("llama.vocab_size", UINT, len(tokens)), ("tokenizer.ggml.model", TEXT, "llama"),
         ("tokenizer.ggml.bos_token_id", UINT, 1), ("tokenizer.ggml.eos_token_id", UINT, 4), ("tokenizer.ggml.unknown_token_id", UINT, 0),
         ("tokenizer.ggml.add_bos_token", BOOL, True), ("tokenizer.chat_template", TEXT, TEMPLATE)]
    lists = [("tokenizer.ggml.tokens", TEXT, tokens), ("tokenizer.ggml.scores", FLOAT, scores), ("tokenizer.ggml.token_type", INT, kinds)]
    return len(p) + len(lists), b"".join(pair(*x) for x in p) + b"".join(list_pair(*x) for x in lists)


def main(word_file, out):
    tokens, kinds, scores = vocabulary(open(word_file).read().split())
    body = list(tensors(len(tokens)))
    n, pairs = header(tokens, kinds, scores)
    info, offset = b"", 0
    for name, shape, kind, raw in body:
        info += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", x) for x in shape) + struct.pack("<IQ", kind, offset)
        offset += -(-len(raw) // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(body), n) + pairs + info
    with open(out, "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32))
        for _, _, _, raw in body:
            f.write(raw + b"\0" * (-len(raw) % 32))


main(*sys.argv[1:])
