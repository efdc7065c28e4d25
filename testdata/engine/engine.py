"""llama.cpp's own HTTP server, out of the wheel xllamacpp, until it is ended. usage: engine.py MODEL.gguf PORT BATCH SLOTS"""
import signal
import sys
import threading

import xllamacpp

model, port, batch, slots = sys.argv[1], *map(int, sys.argv[2:5])
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port = model, ["127.0.0.1"], port
p.model_alias = {"random"} if isinstance(p.model_alias, set) else "random"
p.n_ctx, p.n_parallel, p.kv_unified = 4096 * slots, slots, False
p.n_batch = p.n_ubatch = batch  # the most prompt tokens of a step, which all other streams wait for
p.cont_batching = p.endpoint_metrics = p.endpoint_slots = p.use_jinja = p.warmup = True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1  # two wait for each other in loops, which on a busy machine makes gaps of its own
p.n_threads_http, p.cache_ram_mib = 256, 512
server = xllamacpp.Server(p)
print("listening", server.listening_address, flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
threading.Event().wait()
