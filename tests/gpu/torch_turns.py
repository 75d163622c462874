# SPDX-License-Identifier: Apache-2.0
# PyTorch, taking turns with assay from one process. It reads requests, one a line, from stdin or from the file that is
# named, and answers each with one line of JSON, {"seconds": of one operation} or {"problem": "..."}. Short operations
# have a second time, "back_to_back": one of 20 in a CUDA graph, where "seconds" is a graph of one between two events.
#
#   gemm bf16 8192       product of two square matrices of random normal data
#   copy 2147483648      bytes of the device's memory copied to others
#   fft 256              complex fp32, in three dimensions
#   decode 64 1536       a token of each of so many sequences by Llama 3 8B's shape in bf16, random weights, static cache
#   prefill 2048         a prompt of so many tokens by the same
#   images 64            ResNet-50 in bf16, channels last, batch norm folded
#   train 32 1024        a step of GPT-2 124M: sequences, tokens of each; AdamW is fused, weights fp32 under autocast
#   to_device 268435456  bytes of pinned memory copied to the device; also to_host
#   attention cudnn 16 4096 8    a token of 16 sequences attends to 4096 keys; 8 of 32 heads share one; or flash
#   prompt cudnn 4 4096  causal attention of prompts: how many, tokens of each; or flash
#   layer hand 8 128     BERT's encoder layer in bf16: sequences, tokens of each; by hand with the faster of SDPA's
#                        kernels, or `encoder`: nn.TransformerEncoderLayer, whose GELU is an approximation
#   convolution 64       ResNet-50's res4_3x3 in bf16 with bias and ReLU, channels last
#
# Models run as one CUDA graph, but for training, which torch.compile() makes from the same code.
#
# torch_turns.py --facts prints the versions that are installed and does not load them.
import json
import math
import statistics
import sys
import time


def say(**what):
    print(json.dumps(what), flush=True)


if sys.argv[1:] == ["--facts"]:
    import importlib.metadata as installed

    versions = {d.metadata["Name"]: d.version for d in installed.distributions()
                if (d.metadata["Name"] or "").lower() in ("torch", "triton")
                or (d.metadata["Name"] or "").lower().startswith("nvidia-")}
    say(python=sys.version.split()[0], **versions)
    sys.exit(0 if "torch" in versions else 1)

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except Exception as problem:  # not there, or its libraries are not
    say(problem=f"python3 cannot import torch: {problem}")
    sys.exit(1)
if not torch.cuda.is_available():
    say(problem=f"torch {torch.__version__} sees no device")
    sys.exit(1)

backends = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
types = {"fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16,
         "bf16": torch.bfloat16, "fp8_e4m3": getattr(torch, "float8_e4m3fn", None)}


def gemm(precision, size):
    kind, size = types[precision], int(size)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    # TN, as assay: both operands are contiguous along the summed dimension. Numbers of fp64 with the digits of fp32 would
    # take less power, and be multiplied faster.
    made = kind if kind == torch.float64 else torch.float32
    left = torch.randn(size, size, device="cuda", dtype=made).to(kind)
    right = torch.randn(size, size, device="cuda", dtype=made).to(kind).t()
    if precision.startswith("fp8"):
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one,
                                        out_dtype=torch.bfloat16, use_fast_accum=True)
    out = torch.empty(size, size, device="cuda", dtype=kind)
    return lambda: torch.matmul(left, right, out=out)


def copy(size):
    source = torch.randn(int(size) // 8, device="cuda", dtype=torch.float64)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def fft(points):
    source = torch.randn([int(points)] * 3, device="cuda", dtype=torch.complex64)
    out = torch.empty_like(source)
    return lambda: torch.fft.fftn(source, out=out)


def transfer(direction, size):
    host = torch.randint(0, 256, (int(size),), dtype=torch.uint8).pin_memory()
    device = torch.randint(0, 256, (int(size),), dtype=torch.uint8, device="cuda")
    target, source = (device, host) if direction == "to_device" else (host, device)
    return lambda: target.copy_(source, non_blocking=True)


def in_graph(operation, calls=1):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.inference_mode():
        for _ in range(3):
            operation()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(graph):
        for _ in range(calls):
            operation()
    return graph.replay


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / math.prod(shape[1:]) ** 0.5


def llama(batch, new, context):
    """Llama 3 8B: `new` tokens of each sequence at the end of a context, as model.llm_decode and model.llm_prefill."""
    layers, hidden, heads, groups, size, inner, vocabulary = 32, 4096, 32, 8, 128, 14336, 128256
    parts = [heads * size, groups * size, groups * size]
    table, head = random(vocabulary, hidden), random(vocabulary, hidden)
    weights = [(random(sum(parts), hidden), random(hidden, heads * size), random(2 * inner, hidden),
                random(hidden, inner)) for _ in range(layers)]
    caches = [torch.randn(2, batch, groups, context, size, device="cuda", dtype=torch.bfloat16)
              for _ in range(layers)]
    scale = torch.ones(hidden, device="cuda", dtype=torch.bfloat16)
    tokens = torch.randint(0, vocabulary, (batch, new), device="cuda")
    angles = torch.arange(context - new, context, device="cuda")[:, None] / 500000 ** (
        torch.arange(0, size, 2, device="cuda") / size)
    cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()

    def turned(x):
        low, high = x.chunk(2, -1)
        return torch.cat((low * cos - high * sin, high * cos + low * sin), -1)

    def step():
        x = F.embedding(tokens, table)
        for (qkv, out, gate_up, down), cache in zip(weights, caches):
            q, k, v = (part.unflatten(-1, (-1, size)).transpose(1, 2)
                       for part in F.linear(F.rms_norm(x, (hidden,), scale), qkv).split(parts, -1))
            cache[0][:, :, context - new:] = turned(k)
            cache[1][:, :, context - new:] = v
            found = F.scaled_dot_product_attention(turned(q), cache[0], cache[1], enable_gqa=True,
                                                   is_causal=new > 1)
            x = x + F.linear(found.transpose(1, 2).flatten(2), out)
            gate, up = F.linear(F.rms_norm(x, (hidden,), scale), gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, down)
        return F.linear(F.rms_norm(x[:, -1], (hidden,), scale), head).argmax(-1)

    return in_graph(torch.compile(step, mode="max-autotune-no-cudagraphs", fullgraph=True))


def attention(kernel, batch, context, group):
    """Keys and values lie tokens first, as caches have them."""
    heads, size = 32, 128
    query = torch.randn(batch, heads, 1, size, device="cuda", dtype=torch.bfloat16)
    keys, values = (torch.randn(batch, context, heads // group, size, device="cuda", dtype=torch.bfloat16)
                    .transpose(1, 2) for _ in range(2))

    def call():
        with sdpa_kernel(backends[kernel]):
            return F.scaled_dot_product_attention(query, keys, values, enable_gqa=group > 1)

    return call


def prompt(kernel, batch, length):
    parts = [torch.randn(batch, 32, length, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3)]

    def call():
        with sdpa_kernel(backends[kernel]):
            return F.scaled_dot_product_attention(*parts, is_causal=True)

    return call


def layer(how, batch, length, which):
    hidden, heads = 768, 12
    whole = torch.nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, dropout=0.0, activation="gelu",
                                             batch_first=True, device="cuda", dtype=torch.bfloat16).eval()
    x = torch.randn(batch, length, hidden, device="cuda", dtype=torch.bfloat16)
    if how == "encoder":
        return lambda: whole(x)
    own = whole.self_attn

    def call():
        qkv = F.linear(x, own.in_proj_weight, own.in_proj_bias).view(batch, length, 3, heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        with sdpa_kernel(which):
            found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        one = whole.norm1(x + F.linear(found, own.out_proj.weight, own.out_proj.bias))
        return whole.norm2(one + whole.linear2(F.gelu(whole.linear1(one))))

    return call


def convolution(batch):
    last = torch.channels_last
    torch.backends.cudnn.benchmark = True
    source = random(batch, 256, 14, 14).to(memory_format=last)
    weight, bias = random(256, 256, 3, 3).to(memory_format=last), random(256)
    return lambda: torch.cudnn_convolution_relu(source, weight, bias, (1, 1), (1, 1), (1, 1), 1)


def images(batch):
    last = torch.channels_last

    def conv(inputs, outputs, kernel, stride=1):
        weight = random(outputs, inputs, kernel, kernel).to(memory_format=last)
        bias = random(outputs)
        return lambda x: F.conv2d(x, weight, bias, stride, kernel // 2)

    def block(inputs, width, stride):
        reduce, middle = conv(inputs, width, 1), conv(width, width, 3, stride)
        expand = conv(width, 4 * width, 1)
        past = conv(inputs, 4 * width, 1, stride) if stride > 1 or inputs != 4 * width else None
        return lambda x: F.relu(expand(F.relu(middle(F.relu(reduce(x))))) + (past(x) if past else x))

    first, blocks, inputs = conv(3, 64, 7, 2), [], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            blocks.append(block(inputs, 64 << stage, 2 if stage and not i else 1))
            inputs = 256 << stage
    head, bias = random(1000, inputs), random(1000)
    source = random(batch, 3, 224, 224).to(memory_format=last)
    torch.backends.cudnn.benchmark = True

    def step():
        x = F.max_pool2d(F.relu(first(source)), 3, 2, 1)
        for each in blocks:
            x = each(x)
        return F.linear(x.mean((2, 3)), head, bias).argmax(-1)

    return in_graph(torch.compile(step, mode="max-autotune-no-cudagraphs", fullgraph=True))


def train(batch, length):
    layers, hidden, heads, vocabulary = 12, 768, 12, 50304
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
            self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
            self.inner, self.outer = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

        def forward(self, x):
            q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2)
                       for part in self.qkv(self.one(x)).chunk(3, -1))
            found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(found.transpose(1, 2).flatten(2))
            return x + self.outer(F.gelu(self.inner(self.two(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, hidden), nn.Embedding(length, hidden)
            self.blocks, self.last = nn.ModuleList(Block() for _ in range(layers)), nn.LayerNorm(hidden)

        def forward(self, x, wanted):
            x = self.tokens(x) + self.places.weight
            for each in self.blocks:
                x = each(x)
            scores = F.linear(self.last(x), self.tokens.weight)
            return F.cross_entropy(scores.flatten(0, 1).float(), wanted.flatten())

    model = Model().cuda()
    compiled = torch.compile(model)
    adam = torch.optim.AdamW(model.parameters(), fused=True)
    x, wanted = (torch.randint(0, vocabulary, (batch, length), device="cuda") for _ in range(2))

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = compiled(x, wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)

    return step


def seconds(operation, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        operation()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def single(operation):
    """Behind a kernel that waits, so that the launch is hidden."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(400000)
    begin.record()
    operation()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def short(operation, calls=20):
    one, many = in_graph(operation), in_graph(operation, calls)
    begin = time.monotonic()
    while time.monotonic() - begin < 1:
        seconds(many, 20)
    return {"seconds": statistics.median(single(one) for _ in range(60)),
            "back_to_back": statistics.median(seconds(many, 5) / (5 * calls) for _ in range(20))}


def answer(kind, *arguments):
    if kind == "attention":
        return short(attention(arguments[0], *map(int, arguments[1:])))
    if kind == "prompt":
        return {"seconds": short(prompt(arguments[0], *map(int, arguments[1:])), 2)["back_to_back"]}
    if kind == "convolution":
        return short(convolution(int(arguments[0])))
    if kind == "layer":
        kernels = list(backends.values())[:1 if arguments[0] == "encoder" else 2]
        return min((short(layer(arguments[0], *map(int, arguments[1:]), which)) for which in kernels),
                   key=lambda times: times["seconds"])
    return {"seconds": long(kind, *arguments)}


def long(kind, *arguments):
    make = {"gemm": gemm, "copy": copy, "fft": fft,
            "to_device": lambda size: transfer(kind, size), "to_host": lambda size: transfer(kind, size),
            "decode": lambda batch, context: llama(int(batch), 1, int(context)),
            "prefill": lambda tokens: llama(1, int(tokens), int(tokens)),
            "images": lambda batch: images(int(batch)),
            "train": lambda batch, length: train(int(batch), int(length))}
    operation = make[kind](*arguments)
    seconds(operation, 3)
    calls = max(1, int(0.1 / (seconds(operation, 3) / 3)))
    for _ in range(20):  # two seconds of load, as assay has before its window
        seconds(operation, calls)
    return sum(seconds(operation, calls) for _ in range(10)) / (10 * calls)


say(torch=torch.__version__, cuda=torch.version.cuda, device=torch.cuda.get_device_name())
for line in open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin:
    try:
        say(**answer(*line.split()))
    except Exception as problem:  # an unknown request, an unsupported precision, too little memory
        say(problem=(str(problem) or type(problem).__name__).splitlines()[0])
    torch.cuda.empty_cache()  # what lies idle is assay's
