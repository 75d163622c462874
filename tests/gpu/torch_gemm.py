# SPDX-License-Identifier: Apache-2.0
# PyTorch's matrix product, the peer of gemm.square[cublaslt]: torch_gemm.py PRECISION SIZE prints one line of
# JSON. Random normal data; a second of warm-up; then batches of products timed by events for three seconds.
import json
import sys


def finish(**what):
    print(json.dumps(what))
    sys.exit(0)


try:
    import torch
except ImportError:
    finish(problem="there is no torch in this python3")
if not torch.cuda.is_available():
    finish(problem="torch sees no device")

precision, size = sys.argv[1], int(sys.argv[2])
types = {"fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16,
         "bf16": torch.bfloat16, "fp8_e4m3": getattr(torch, "float8_e4m3fn", None)}
kind = types.get(precision)
if kind is None:
    finish(problem=f"this torch has no {precision}")
torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"

# TN, as assay: both operands are contiguous along the summed dimension.
left = torch.randn(size, size, device="cuda", dtype=torch.float32).to(kind)
right = torch.randn(size, size, device="cuda", dtype=torch.float32).to(kind).t()
if precision.startswith("fp8"):
    one = torch.ones((), device="cuda")
    product = lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one,
                                       out_dtype=torch.bfloat16, use_fast_accum=True)
else:
    out = torch.empty(size, size, device="cuda", dtype=kind)
    product = lambda: torch.matmul(left, right, out=out)


def seconds(calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        product()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


try:
    seconds(3)
    each = seconds(3) / 3
    calls = max(1, int(0.1 / each))
    for _ in range(10):
        seconds(calls)
    total = sum(seconds(calls) for _ in range(30))
except Exception as problem:  # an unsupported precision, too little memory
    finish(problem=str(problem).splitlines()[0])
finish(flop_rate=2.0 * size**3 * calls * 30 / total, torch=torch.__version__,
       device=torch.cuda.get_device_name())
