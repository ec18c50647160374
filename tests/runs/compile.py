"""Compiles the kernels of `python/` to the files of `ttgir/`: `pip install triton==3.9.0`, then `python compile.py`.

No GPU is needed. Each file begins with the recipe of the launch that `tests/tests/data/runs.rs` makes.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton._C.libtriton import ir

HERE = Path(__file__).parent

# Name: (file, kernel, signature, constexprs, recipe, options).
KERNELS = {
    "matmul": ("matmul", "matmul",
               dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32"),
               dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP=2),
               "grid=(12) a=f16[200,96] b=f16[96,144] c=f16[200,144]:nan M=200 N=144 K=96", {}),
    "matmul_wide": ("matmul", "matmul",
                    dict(a="*bf16", b="*bf16", c="*fp32", M="i32:16", N="i32:16", K="i32:16"),
                    dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP=4),
                    "grid=(4) a=bf16[256,256] b=bf16[256,256] c=f32[256,256]:nan M=256 N=256 K=256", {}),
    "softmax": ("rows", "softmax", dict(x="*fp32", y="*fp32", columns="i32"), dict(WIDTH=256),
                "grid=(8) x=f32[8,200] y=f32[8,200]:nan columns=200", {}),
    "layer_norm": ("rows", "layer_norm",
                   dict(x="*fp16", y="*fp16", gain="*fp32", bias="*fp32", columns="i32", eps="fp32"), dict(WIDTH=128),
                   "grid=(6) x=f16[6,300] y=f16[6,300]:nan gain=f32[300] bias=f32[300] columns=300 eps=1e-5", {}),
    "attention": ("attention", "attention",
                  dict(q="*fp16", k="*fp16", v="*fp16", out="*fp16", keys="i32:16", scale="fp32"),
                  dict(BLOCK_Q=64, BLOCK_KV=64, HEAD=64, CAUSAL=False),
                  "grid=(3,2) q=f16[2,192,64] k=f16[2,192,64] v=f16[2,192,64] out=f16[2,192,64]:nan keys=192 scale=0.18", {}),
    "attention_causal": ("attention", "attention",
                         dict(q="*bf16", k="*bf16", v="*bf16", out="*fp32", keys="i32:16", scale="fp32"),
                         dict(BLOCK_Q=64, BLOCK_KV=32, HEAD=64, CAUSAL=True),
                         "grid=(3,1) q=bf16[1,192,64] k=bf16[1,192,64] v=bf16[1,192,64] out=f32[1,192,64]:nan keys=192 scale=0.18", {}),
    "histogram": ("grid", "histogram", dict(x="*i32", counts="*i32", n="i32"), dict(BLOCK=128),
                  "grid=(8) x=i32[1000]:uniform(0,16) counts=i32[16]:zeros n=1000", {}),
    "running_sum": ("grid", "running_sum", dict(x="*i32", y="*i32", carry="*i32", flags="*i32", n="i32"), dict(BLOCK=64),
                    "grid=(6) x=i32[350]:uniform(-9,9) y=i32[350]:zeros carry=i32[6]:zeros flags=i32[6]:zeros n=350", {}),
}


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, HERE / "python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_one(name: str, arch: int) -> str:
    file, kernel, signature, constexprs, recipe, options = KERNELS[name]
    fn = getattr(load(file), kernel)
    types = {k: v.split(":")[0] for k, v in signature.items()}
    full = {p.name: types.get(p.name, "constexpr") for p in fn.params}
    order = list(full)
    attrs = {(order.index(k), ): [["tt.divisibility", 16]] for k, v in signature.items()
             if v.startswith("*") or v.endswith(":16")}
    source = ASTSource(fn, full, {(order.index(k), ): v for k, v in constexprs.items()}, attrs)
    target = GPUTarget("cuda", arch, 32)
    backend = make_backend(target)
    opts = backend.parse_options(options)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, opts, backend.get_codegen_implementation(opts), backend.get_module_map(), context)
    stages: dict = {}
    backend.add_stages(stages, opts, source.language)
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, {})
    text = module.str()
    here = str(HERE) + "/"
    text = text.replace(here, "")
    text = re.sub(r'"[^"]*/site-packages/', '"site-packages/', text)
    return f"// fencepost-run: {kernel} {recipe}\n{text}"


def main() -> None:
    for arch in (80, 90, 100):
        folder = HERE / "ttgir" / f"sm_{arch}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in KERNELS:
            (folder / f"{name}.ttgir").write_text(compile_one(name, arch))
            print(f"sm_{arch}/{name}")


if __name__ == "__main__":
    sys.exit(main())
