# SPDX-License-Identifier: Apache-2.0
# PyTorch, taking turns with assay from one process. It reads requests, one a line, from stdin or from the file that is
# named, and answers each with one line of JSON, {"seconds": of one operation} or {"problem": "..."}:
#
#   gemm bf16 8192       product of two square matrices of random normal data
#   copy 2147483648      bytes of the device's memory copied to others
#   fft 256              complex fp32, in three dimensions
#
# torch_turns.py --facts prints the versions that are installed and does not load them.
import json
import sys


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
except Exception as problem:  # not there, or its libraries are not
    say(problem=f"python3 cannot import torch: {problem}")
    sys.exit(1)
if not torch.cuda.is_available():
    say(problem=f"torch {torch.__version__} sees no device")
    sys.exit(1)

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


def seconds(operation, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        operation()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def answer(kind, *arguments):
    operation = {"gemm": gemm, "copy": copy, "fft": fft}[kind](*arguments)
    seconds(operation, 3)
    calls = max(1, int(0.1 / (seconds(operation, 3) / 3)))
    for _ in range(20):  # two seconds of load, as assay has before its window
        seconds(operation, calls)
    return sum(seconds(operation, calls) for _ in range(10)) / (10 * calls)


say(torch=torch.__version__, cuda=torch.version.cuda, device=torch.cuda.get_device_name())
for line in open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin:
    try:
        say(seconds=answer(*line.split()))
    except Exception as problem:  # an unknown request, an unsupported precision, too little memory
        say(problem=(str(problem) or type(problem).__name__).splitlines()[0])
    torch.cuda.empty_cache()  # what lies idle is assay's
