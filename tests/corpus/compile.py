"""Compile the corpus: `python compile.py [STEM …]`, with `pip install triton==3.9.0` and nothing else.

Writes `ttgir/<arch>/<kernel>[.<bug>].ttgir` for every kernel of `gluon/` and every broken twin, with
locations relative to this folder, and `manifest.json`, which says what is expected of each file and, once
a kernel, what it is compiled with.
With arguments only the named files of `gluon/` are compiled; the manifest is then left alone.
`--check` also lowers every clean kernel to assembly, to show that it is a kernel that could be run.
No GPU and no torch are needed: the Gluon front end and the passes up to the wanted stage run on the
host, for a target that is named rather than found.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
os.chdir(HERE)
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the release's default, said aloud to quiet its warning
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import triton
from triton._C.libtriton import amd, ir, nvidia, passes
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.experimental.gluon._runtime import GluonASTSource

WHEEL = str(pathlib.Path(triton.__file__).parent.parent)
MARK = re.compile(r"#\s*BUG:\s*([\w, ]+)")


def load(path: pathlib.Path):
    """Import one kernel file under its relative path."""
    spec = importlib.util.spec_from_file_location(path.stem, str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def source_of(kernel, bug: str) -> GluonASTSource:
    """The front-end input: every parameter gets a type or, for a constexpr, a value."""
    names = [p.name for p in kernel.fn.params]
    values = dict(kernel.constexprs, BUG=bug)
    given = {n: "constexpr" if n in values else kernel.signature[n] for n in names}
    signature = {n: ty.removesuffix(":16") for n, ty in given.items()}
    aligned = {(i, ): [["tt.divisibility", 16]] for i, n in enumerate(names) if given[n][0] == "*" or ":16" in given[n]}
    return GluonASTSource(kernel.fn, signature, {(names.index(n), ): v for n, v in values.items()}, aligned)


def spelled(value) -> str:
    """A constexpr as a Python expression in the scope of its file."""
    library = type(value).__module__.startswith("triton.")
    return f"gl.{value!r}" if library else repr(value)


def spec_of(kernel) -> dict:
    """What the Python alone does not say: a type or a value for each parameter, but for `BUG`."""
    signature = {n: ty + ":16" if ty[0] == "*" and ":" not in ty else ty for n, ty in kernel.signature.items()}
    values = {n: spelled(v) for n, v in kernel.constexprs.items()}
    return {"types": signature, "values": values, "num_warps": kernel.num_warps, "num_ctas": kernel.num_ctas}


def target_of(arch: int | str) -> GPUTarget:
    """A compute capability, or the name of an AMD architecture; RDNA and CDNA 5 have warps of 32."""
    if isinstance(arch, int):
        return GPUTarget("cuda", arch, 32)
    return GPUTarget("hip", arch, 32 if arch.startswith("gfx1") else 64)


def allocate_amd(module, context, options):
    """The same for AMD, where shared memory is called LDS."""
    pm = ir.pass_manager(context)
    pm.enable_debug()
    amd.passes.ttgpuir.add_update_async_wait_count(pm, options.arch)
    amd.passes.ttgpuir.add_warp_pipeline_conversion(pm, options.arch)
    passes.convert.add_scf_to_cf(pm)
    passes.gluon.add_inliner(pm)
    passes.convert.add_index_to_llvmir(pm)
    amd.passes.ttgpuir.add_allocate_shared_memory(pm, options.arch)
    pm.run(module, "corpus_allocate")
    return module


def allocate(module, context, options, target):
    """From TTGIR to the form in which shared and tensor memory have offsets and control flow is flat."""
    if target.backend == "hip":
        return allocate_amd(module, context, options)
    capability = int(re.sub(r"\D", "", str(options.arch)))
    from triton.backends.nvidia.compiler import get_ptx_version_from_options
    ptx = get_ptx_version_from_options(options, target.arch)
    pm = ir.pass_manager(context)
    pm.enable_debug()
    passes.ttgpuir.add_combine_tensor_select_and_if(pm)
    passes.ttgpuir.add_allocate_warp_groups(pm, False)
    passes.convert.add_scf_to_cf(pm)
    passes.gluon.add_inliner(pm)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(pm, capability, ptx)
    nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(pm)
    pm.run(module, "corpus_allocate")
    return module


def compile_one(kernel, bug: str, stage: str) -> str:
    """The text of one kernel at `stage`: `ttgir`, `alloc` or `asm`."""
    target = target_of(kernel.arch)
    backend = make_backend(target)
    options = backend.parse_options({"num_warps": kernel.num_warps, "num_ctas": kernel.num_ctas})
    source = source_of(kernel, bug)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    codegen = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, codegen, backend.get_module_map(), context)
    stages, metadata = {}, dict(options.__dict__)
    backend.add_stages(stages, options, source.language)
    module = stages["ttgir"](module, metadata)
    if stage == "asm":
        return stages["ptx" if target.backend == "cuda" else "amdgcn"](stages["llir"](module, metadata), metadata)
    if stage == "alloc":
        module = allocate(module, context, options, target)
    return module.str().replace(WHEEL + "/", "").replace(f"{HERE}/", "")


def marks(path: pathlib.Path) -> dict[str, list[int]]:
    """The lines marked `# BUG: name`, by name."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if m := MARK.search(line):
            for name in m.group(1).replace(" ", "").split(","):
                found.setdefault(name, []).append(number)
    return found


def compile_file(path: pathlib.Path, check: bool, specs: dict) -> list[dict]:
    """Compile all of one kernel file; returns its manifest rows, and adds its specialisations."""
    rows = []
    lines = marks(path)
    for kernel in load(path).CORPUS:
        arch = f"sm_{kernel.arch}" if isinstance(kernel.arch, int) else kernel.arch
        folder = pathlib.Path("ttgir") / arch
        folder.mkdir(parents=True, exist_ok=True)
        spec = f"{arch}/{kernel.name}"
        specs[spec] = spec_of(kernel)
        if check:
            compile_one(kernel, "", "asm")
        for bug, twin in {"": None, **kernel.twins}.items():
            if twin and bug not in lines:
                raise SystemExit(f"{path}: no line is marked `# BUG: {bug}`")
            for stage in kernel.stages:
                stem = ".".join(filter(None, [kernel.name, "alloc" if stage == "alloc" else "", bug]))
                out = folder / f"{stem}.ttgir"
                out.write_text(compile_one(kernel, bug, stage))
                row = {"file": str(out), "source": str(path), "kernel": kernel.fn.__name__, "arch": arch,
                       "stage": stage, "spec": spec}
                if twin:
                    row |= {"bug": bug, "kinds": twin.kinds, "lines": lines[bug], "why": twin.why}
                rows.append(row)
        print(f"{kernel.name}: {len(kernel.twins)} twins", flush=True)
    return rows


def main(argv: list[str]):
    check = "--check" in argv
    stems = [a for a in argv if not a.startswith("-")]
    paths = [p for p in sorted(pathlib.Path("gluon").glob("*.py")) if not stems or p.stem in stems]
    specs: dict[str, dict] = {}
    rows = [row for path in paths for row in compile_file(path, check, specs)]
    if not stems:
        known = {r["file"] for r in rows}
        for stale in pathlib.Path("ttgir").rglob("*.ttgir"):
            if str(stale) not in known:
                stale.unlink()
        body = ",\n".join("  " + json.dumps(r) for r in sorted(rows, key=lambda r: r["file"]))
        given = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(specs.items()))
        text = '{"schema": 1, "specs": {\n' + given + '\n}, "files": [\n' + body + "\n]}\n"
        pathlib.Path("manifest.json").write_text(text)
    sys.stdout.flush()
    os._exit(0)  # the wheel's bindings report leaks of live contexts on a normal exit


if __name__ == "__main__":
    main(sys.argv[1:])
