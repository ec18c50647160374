"""Compiles the cases of this folder to `ir/`: `pip install triton==3.9.0`, then `python compile.py`. No GPU is needed.

Each file begins with the recipe of its launch and with what GSan says of it: `// race: 12: Read after write` for what
must be said at a line of the Python, `// maybe:` for what some schedules say too. A file without either is clean.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path

from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton._C.libtriton import ir
from triton.experimental.gluon._runtime import GluonASTSource

HERE = Path(__file__).parent
RAW, WAR, WAW = "Read after write", "Write after read", "Write after write"
MIXED = "GSan detected atomic release accumulation with mixed scopes"
CASES: list[tuple] = []


def case(name, kernel, types, constants, recipe, race=(), maybe=(), arch=90, stages=("ttir", "ttgir")):
    """A case: `race` and `maybe` hold pairs of a mark of the Python and a message."""
    if isinstance(types, str):
        types = dict(item.split("=") for item in types.split())
    maybe = maybe if race else []
    CASES.append((name, kernel, types, constants, recipe, list(race), list(maybe), arch, stages))


def handovers():
    types = "data=*i32 flag=*i32 out=*i32"
    recipe = "grid=(2) data=i32[64]:zeros flag=i32[1]:zeros out=i32[64]:zeros"

    def one(name, release, acquire, scope, *, race=(), maybe=()):
        constants = dict(SIZE=64, RELEASE=release, ACQUIRE=acquire, SCOPE=scope)
        case(f"handover_{name}", "handover.handover", types, constants, recipe, race, maybe)

    payload = [("payload", RAW)]
    one("relaxed", "relaxed", "relaxed", "gpu", race=payload)
    for scope in ("gpu", "sys"):
        one(f"no_release_{scope}", "relaxed", "acquire", scope, race=payload)
        one(f"no_acquire_{scope}", "release", "relaxed", scope, race=payload)
        for release, acquire in itertools.product(("release", "acq_rel"), ("acquire", "acq_rel")):
            one(f"{release}_{acquire}_{scope}", release, acquire, scope)
    for release, acquire in itertools.product(("release", "acq_rel"), ("acquire", "acq_rel")):
        one(f"{release}_{acquire}_cta", release, acquire, "cta", race=[("poll", RAW), *payload],
            maybe=[("signal", RAW)])
    for release, acquire, scope, race in (
        ("release", "acquire", "gpu", []),
        ("release", "acquire", "sys", []),
        ("relaxed", "acquire", "gpu", payload),
        ("release", "relaxed", "gpu", payload),
        ("release", "acquire", "cta", [("poll", RAW), *payload]),
    ):
        case(f"polled_{release}_{acquire}_{scope}", "handover.polled", types,
             dict(SIZE=64, RELEASE=release, ACQUIRE=acquire, SCOPE=scope), recipe, race, [("signal", WAR)])
    for plain in (True, False):
        case(f"looked_at_{'plainly' if plain else 'atomically'}", "handover.looked_at", types,
             dict(SIZE=64, PLAIN=plain), recipe, [("look", RAW), *payload] if plain else [],
             [("signal", WAR)])
    for first, message in (("read", WAR), ("write", WAW)):
        for release, acquire in (("relaxed", "relaxed"), ("release", "acquire")):
            ok = release == "release"
            case(f"overwrite_{first}_{'clean' if ok else 'relaxed'}", "handover.overwrite", types,
                 dict(SIZE=64, FIRST=first, RELEASE=release, ACQUIRE=acquire), recipe,
                 [] if ok else [("second", message)])


def relays():
    types = "data=*i32 first=*i32 second=*i32 out=*i32"
    recipe = "grid=(3) data=i32[32]:zeros first=i32[1]:zeros second=i32[1]:zeros out=i32[32]:zeros"

    def one(name, take, give, end, scope, race=(), maybe=()):
        case(f"relay_{name}", "handover.relay", types, dict(SIZE=32, TAKE=take, GIVE=give, END=end, SCOPE=scope),
             recipe, race, maybe)

    for scope in ("gpu", "sys"):
        one(f"relaxed_{scope}", "relaxed", "relaxed", "release", scope, [("payload", RAW)])
        one(f"release_only_{scope}", "relaxed", "release", "release", scope, [("payload", RAW)])
        for take, give in itertools.product(("acquire", "acq_rel"), ("release", "acq_rel")):
            one(f"{take}_{give}_{scope}", take, give, "release", scope)
    for take, give in itertools.product(("acquire", "acq_rel"), ("release", "acq_rel")):
        race = [("take", RAW), ("last", RAW), ("payload", RAW)]
        one(f"{take}_{give}_cta", take, give, "release", "cta", race, [("start", RAW), ("give", RAW)])


def sequences():
    types = "data=*i32 flag=*i32 out=*i32"
    recipe = "grid=(4) data=i32[96]:zeros flag=i32[1]:zeros out=i32[96]:zeros"
    for sem, scope in itertools.product(("release", "acq_rel", "relaxed"), ("gpu", "sys")):
        race = [("payload", RAW)] if sem == "relaxed" else []
        case(f"release_chain_{sem}_{scope}", "handover.release_chain", types,
             dict(SIZE=32, WRITERS=3, SEM=sem, SCOPE=scope), recipe, race)
    recipe = "grid=(2) data=i32[32]:zeros flag=i32[1]:zeros out=i32[1]:zeros"
    for wait in ("relaxed", "acquire"):
        case(f"mixed_scopes_{wait}", "handover.mixed_scopes", types, dict(SIZE=32, WAIT=wait), recipe,
             [("wider", MIXED)] if wait == "relaxed" else [])


def cooperation():
    types = "x=*i32 partial=*i32 counter=*i32 out=*i32"
    recipe = "grid=(9) x=i32[288]:arange partial=i32[9]:zeros counter=i32[1]:zeros out=i32[1]:zeros"
    for sem, scope, race, maybe in (
        ("acq_rel", "gpu", [], []),
        ("relaxed", "gpu", [("gather", RAW)], []),
        ("release", "gpu", [("gather", RAW)], []),
        ("acq_rel", "cta", [("count", RAW), ("gather", RAW)], []),
    ):
        case(f"last_program_{sem}_{scope}", "handover.last_program", types, dict(SIZE=32, SEM=sem, SCOPE=scope),
             recipe, race, maybe)
    recipe = "grid=(6) lock=i32[1]:zeros total=i32[32]:zeros"
    body = [("body", RAW), ("body", WAW)]
    for name, take, give, race, maybe in (
        ("clean", "acquire", "release", [], []),
        ("acq_rel", "acq_rel", "acq_rel", [], []),
        ("relaxed_take", "relaxed", "release", body, []),
        ("relaxed_give", "acquire", "relaxed", body, []),
        ("plain_unlock", "acq_rel", "store", [("take", RAW), *body], [("unlock", WAW), ("unlock", WAR)]),
    ):
        case(f"mutex_{name}", "handover.mutex", "lock=*i32 total=*i32", dict(SIZE=32, TAKE=take, GIVE=give), recipe,
             race, maybe)
    types = "x=*i32 sums=*i32 flags=*i32 y=*i32"
    recipe = "grid=(8) x=i32[256]:arange sums=i32[8]:zeros flags=i32[8]:zeros y=i32[256]:zeros"
    for name, scope, give, race, maybe in (
        ("clean", "gpu", "release", [], []),
        ("relaxed", "gpu", "relaxed", [("prefix", RAW)], []),
        ("cta", "cta", "release", [("poll", RAW), ("prefix", RAW)], [("signal", RAW)]),
    ):
        case(f"lookback_{name}", "handover.lookback", types, dict(SIZE=32, SCOPE=scope, GIVE=give), recipe, race,
             maybe)
    recipe = "grid=(8) x=i32[256]:zeros counter=i32[1]:zeros y=i32[256]:zeros"
    for waits in (True, False):
        case(f"grid_barrier_{'clean' if waits else 'once'}", "handover.grid_barrier", "x=*i32 counter=*i32 y=*i32",
             dict(SIZE=32, WAITS=waits), recipe, maybe=[] if waits else [("across", RAW), ("first", WAR)],
             race=[] if waits else [("any", "race detected")])
    recipe = "grid=(4) x=i32[512]:arange counter=i32[1]:zeros y=i32[512]:zeros tiles=16"
    for atomic in (True, False):
        marks = [("fetch", RAW), ("fetch_again", RAW), ("bump", WAW), ("bump", WAR), ("bump_again", WAW),
                 ("bump_again", WAR), ("tile", WAW)]
        case(f"work_queue_{'clean' if atomic else 'plain'}", "handover.work_queue",
             "x=*i32 counter=*i32 y=*i32 tiles=i32", dict(SIZE=32, ATOMIC=atomic), recipe,
             race=[] if atomic else [("any", "race detected")], maybe=[] if atomic else marks)


def addresses():
    recipe = "grid=(8) x=i32[1000]:uniform(0,64) bins=i32[64]:zeros n=1000"
    for atomic in (True, False):
        case(f"histogram_{'atomic' if atomic else 'plain'}", "addresses.histogram", "x=*i32 bins=*i32 n=i32",
             dict(SIZE=128, ATOMIC=atomic), recipe, race=[] if atomic else [("any", "race detected")],
             maybe=[] if atomic else [("count", RAW), ("bump", WAW), ("bump", WAR)])
    for short, full in (("i8", "i8"), ("fp16", "f16"), ("bf16", "bf16"), ("fp32", "f32")):
        case(f"neighbours_{full}", "addresses.neighbours", f"out=*{short}", dict(STEP=4), f"grid=(9) out={full}[40]")
        case(f"neighbours_{full}_overlap", "addresses.neighbours", f"out=*{short}", dict(STEP=3),
             f"grid=(9) out={full}[40]", [("store", WAW)])
    for masked in (True, False):
        case(f"tail_{'masked' if masked else 'whole'}", "addresses.tail", "x=*fp32 y=*fp32 n=i32",
             dict(SIZE=32, MASKED=masked), "grid=(5) x=f32[160] y=f32[160] n=30", [] if masked else [("store", WAW)])
    for offset in (0, 16):
        case(f"shift_{offset}", "addresses.shift", "x=*fp32", dict(OFFSET=offset, SIZE=32), "grid=(6) x=f32[224]",
             race=[("any", "race detected")] if offset else [], maybe=[("load", RAW), ("store", WAR)] if offset else [])
    for sem, scope, own in itertools.product(("relaxed", "acquire", "release", "acq_rel"), ("cta", "gpu", "sys"),
                                             (True, False)):
        case(f"count_{sem}_{scope}_{'own' if own else 'shared'}", "addresses.count", "counter=*i32 out=*i32",
             dict(PER_PROGRAM=own, SEM=sem, SCOPE=scope), "grid=(5) counter=i32[5]:zeros out=i32[1]",
             [("add", RAW)] if scope == "cta" and not own else [], stages=("ttir",))
    for plain in (True, False):
        case(f"elect_{'plain' if plain else 'clean'}", "addresses.elect", "winner=*i32 out=*i32", dict(PLAIN=plain),
             "grid=(5) winner=i32[1]:value(-1) out=i32[1]", race=[("any", "race detected")] if plain else [],
             maybe=[("plain", WAR), ("plain", WAW), ("cas", RAW)] if plain else [])
    types = "x=*fp32 out=*fp32 flag=*i32 rows=i32"
    recipe = "grid=(2) x=f32[16,32] out=f32[32] flag=i32[1]:zeros rows=16"
    for reads, release in itertools.product((True, False), ("release", "relaxed")):
        mark = [("write", WAR)] if reads else [("read", RAW)]
        case(f"described_{'load' if reads else 'store'}_{release}", "addresses.described", types,
             dict(SIZE=32, RELEASE=release, READS=reads), recipe, mark if release == "relaxed" else [])
    for described in (True, False):
        case(f"described_flag_{'reduce' if described else 'clean'}", "addresses.described_flag",
             "payload=*i32 flags=*i32 out=*i32", dict(SIZE=32, DESCRIBED=described),
             "grid=(2) payload=i32[32]:zeros flags=i32[8,32]:zeros out=i32[32]",
             [("payload", RAW)] if described else [])
    types = "x=*fp32 picks=*i32 out=*fp32 flag=*i32 height=i32"
    recipe = "grid=(2) x=f32[16,32] picks=i32[8]:arange out=f32[32] flag=i32[1]:zeros height=16"
    for scatters, release in itertools.product((True, False), ("release", "relaxed")):
        mark = [("scatter", WAR)] if scatters else [("write", WAR)]
        case(f"rows_{'scatter' if scatters else 'gather'}_{release}", "addresses.rows", types,
             dict(WIDTH=32, RELEASE=release, SCATTERS=scatters), recipe, mark if release == "relaxed" else [],
             arch=100)


def transfers():
    recipe = "grid=(2) x=f32[32,32]:zeros out=f32[32,32]:zeros"
    described = dict(x="*fp32", out="*fp32")

    def one(name, kernel, types, constants, recipe, race=(), maybe=(), ctas=1):
        case(name, f"transfers.{kernel}", types, constants, recipe, race, maybe, ("gluon", ctas), ("ttgir", ))

    flagged = dict(x="*fp32", flag="*i32", out="*fp32")
    for reduces, waits in itertools.product((True, False), ("before", "read", "after")):
        one(f"tma_{'reduce' if reduces else 'store'}_waits_{waits}", "store_then_flag", flagged,
            dict(WAITS=waits, REDUCES=reduces), f"{recipe} flag=i32[1]:zeros",
            [] if waits == "before" else [("any", "race detected")],
            [("payload", RAW), ("reduce" if reduces else "store", WAR)])
    for waits in (True, False):
        word = "waits" if waits else "early"
        one(f"tma_store_load_{word}", "store_then_load", described, dict(WAITS=waits), recipe,
            [] if waits else [("any", "race detected")], [("load", RAW), ("store", WAR)])
        one(f"tma_two_stores_{word}", "two_stores", described, dict(WAITS=waits), recipe,
            [] if waits else [("any", WAW)], [("second", WAW), ("first", WAW)])
        one(f"tma_load_write_{word}", "load_then_write", described, dict(WAITS=waits), recipe,
            [] if waits else [("any", "race detected")], [("write", WAR), ("load", RAW)])
        plain = dict(x="*fp32", out="*fp32", flag="*i32")
        lines = "grid=(2) x=f32[256] out=f32[256] flag=i32[1]:zeros"
        one(f"cp_async_write_{word}", "copy_then_write", plain, dict(WAITS=waits), lines,
            [] if waits else [("any", "race detected")], [("write", WAR), ("copy", RAW)])
        one(f"cp_async_flag_{word}", "copy_then_flag", plain, dict(WAITS=waits), lines,
            [] if waits else [("any", "race detected")], [("write", WAR), ("copy", RAW)])
        one(f"partitions_{word}", "partitions", plain, dict(WAITS=waits), lines,
            [] if waits else [("any", "race detected")], [("drain", RAW), ("fill", WAR)])
        one(f"acquired_elsewhere_{word}", "acquired_elsewhere", plain, dict(WAITS=waits), lines,
            [] if waits else [("any", "race detected")], [("use", RAW), ("produce", WAR)])
        one(f"cluster_{word}", "exchange", plain, dict(WAITS=waits), lines.replace("(2)", "(1)"),
            [] if waits else [("any", "race detected")], [("second", RAW), ("first", WAR)], ctas=2)


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def line_of(file: str, kernel: str, mark: str) -> str:
    """The line of a mark in a kernel, or in a helper; `any` is any line."""
    if mark == "any":
        return "any"
    inside, elsewhere = False, "0"
    for number, line in enumerate((HERE / f"{file}.py").read_text().splitlines(), 1):
        if line.startswith("def "):
            inside = line.startswith(f"def {kernel}(")
        if line.endswith(f"# mark: {mark}"):
            if inside:
                return str(number)
            elsewhere = str(number)
    assert elsewhere != "0", f"{kernel} has no mark {mark}"
    return elsewhere


def compile_one(kernel, types, constants, arch) -> dict[str, str]:
    gluon, flags = isinstance(arch, tuple), {}
    if gluon:
        arch, flags = 90, dict(num_ctas=arch[1])
    fn = getattr(load(kernel.split(".")[0]), kernel.split(".")[1])
    full = {param.name: types.get(param.name, "constexpr") for param in fn.params}
    order = list(full)
    attrs = {(order.index(name), ): [["tt.divisibility", 16]] for name, value in types.items() if value[0] == "*"}
    source = (GluonASTSource if gluon else ASTSource)(fn, full, {(order.index(name), ): value for name, value in constants.items()}, attrs)
    target = GPUTarget("cuda", arch, 32)
    backend = make_backend(target)
    options = backend.parse_options(flags)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(),
                            context)
    stages: dict = {}
    backend.add_stages(stages, options, source.language)
    texts = {}
    for stage in ("ttgir", ) if gluon else ("ttir", "ttgir"):
        module = stages[stage](module, dict(options.__dict__))
        text = module.str().replace(str(HERE) + "/", "")
        texts[stage] = re.sub(r'"[^"]*/site-packages/', '"site-packages/', text)
    return texts


def main() -> None:
    for make in (handovers, relays, sequences, cooperation, addresses, transfers):
        make()
    folder = HERE / "ir"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, kernel, types, constants, recipe, race, maybe, arch, stages in CASES:
        file, function = kernel.split(".")
        head = f"// fencepost-run: {function} {recipe}\n"
        for word, pairs in (("race", race), ("maybe", maybe)):
            head += "".join(f"// {word}: {line_of(file, function, mark)}: {text}\n" for mark, text in pairs)
        for stage, text in compile_one(kernel, types, constants, arch).items():
            if stage in stages:
                (folder / f"{name}.{stage}").write_text(head + text)
    print(len(list(folder.iterdir())), "files")


if __name__ == "__main__":
    sys.exit(main())
