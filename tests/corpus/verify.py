"""Checks mutants with Triton itself: `cargo xtask mutate --out DIR`, then `python verify.py DIR`.

Each mutant must pass Triton's parser and verifiers. Of each dropped fence it is said whether Triton's
own pass inserts it again: then the mutant compiles to the same program, and must not be found.
Needs triton 3.9 (`pip install triton==3.9.0`) and no GPU.
"""
import json
import pathlib
import sys

try:
    from triton._C.libtriton import ir, nvidia, passes
except ImportError as error:
    sys.exit(f"skipped: {error}")


def parse(path):
    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    return context, ir.parse_mlir_module(str(path), context)


def fences(path, capability):
    """How many fences are left once Triton has inserted its own."""
    context, module = parse(path)
    manager = ir.pass_manager(context)
    passes.ttgpuir.add_allocate_warp_groups(manager)
    passes.convert.add_scf_to_cf(manager)
    passes.gluon.add_inliner(manager)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, 87)
    nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(manager)
    nvidia.passes.ttnvgpuir.add_proxy_fence_insertion(manager, capability)
    manager.run(module, "fences")
    return str(module).count("fence_async_shared")


def main():
    folder, corpus = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
    rows = json.loads((folder / "manifest.json").read_text())["files"]
    problems, inserted = [], 0
    for row in rows:
        file = row["file"]
        try:
            parse(folder / file)
            if row["mutation"] == "fence-drop":
                capability = 100 if "sm_100" in file else 90
                again = fences(folder / file, capability) == fences(corpus / row["source"], capability)
                inserted += again
                if again == (row["verdict"] == "found"):
                    problems.append(f"{file}: {row['verdict']}, and the fence is {'' if again else 'not '}inserted again")
        except RuntimeError as error:
            problems.append(f"{file}: {error}")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(rows)} mutants, {len(problems)} problems; Triton inserts {inserted} dropped fences again")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
