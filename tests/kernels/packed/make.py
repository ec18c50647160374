#!/usr/bin/env python3
"""Writes the kernels of this folder: attention with values packed into spare columns of the scores.

One persistent kernel, two groups of query rows, six tasks:

    0 correction   rescales the output of each key block by alpha, divides by l and hands it on at the end
    1 MMA          scores = Q K^T and output += P V, for both groups
    2 store        TMA stores of finished tiles
    3 load         TMA loads of Q once a tile, of K and V once a key block
    4, 5 softmax   one group each: alpha and P once a key block, m and l once a tile

The 128 columns of a group's scores also hold its P (columns 0 to 63), alpha (64), m (65) and l (66).
The score MMA does not accumulate, so that it overwrites all of them. P is read by the same task and
alpha before the output is rescaled, for which the MMA waits anyway. But m and l are read after the
loop over key blocks, once a tile, and only an edge of their own orders that.

Forms: `final` (mbarriers, views), `token` (nvws tokens in partitions), `tagged` (one region, ops
carry their task), `planned` (the same without any synchronisation). Variants: `fixed`, `broken`
(no edges from m and l to the score MMA) and `cadence` (they are waited for in the inner loop with
the inner phase, where they flip once a tile).

    python3 make.py            writes all files beside this one
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS = ["correction", "mma", "store", "load", "softmax0", "softmax1"]
CHUNKS = {"alpha": 64, "m": 65, "l": 66}

HEADER = """\
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#nvt = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#half = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#col = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#row = #ttg.slice<{dim = 1, parent = #rows}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory
#scores = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#out = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#column = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
!desc = !tt.tensordesc<128x64xbf16, #nv>
!tile = !ttg.memdesc<128x64xbf16, #nv, #smem, mutable>
!tileT = !ttg.memdesc<64x128xbf16, #nvt, #smem, mutable>
!ring = !ttg.memdesc<2x128x64xbf16, #nv, #smem, mutable>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!bars = !ttg.memdesc<2x1xi64, #bar, #smem, mutable>
!scores = !ttg.memdesc<128x128xf32, #scores, #tmem, mutable>
!out = !ttg.memdesc<128x64xf32, #out, #tmem, mutable>
"""
VIEWS = """\
!scores16 = !ttg.memdesc<128x256xbf16, #scores, #tmem, mutable>
!scores1 = !ttg.memdesc<128x128xf32, #column, #tmem, mutable>
!p = !ttg.memdesc<128x128xbf16, #scores, #tmem, mutable, 128x256>
!column = !ttg.memdesc<128x1xf32, #column, #tmem, mutable, 128x128>
"""
ALLOCS = """\
!p = !ttg.memdesc<128x128xbf16, #scores, #tmem, mutable>
!column = !ttg.memdesc<128x1xf32, #column, #tmem, mutable>
"""
MODULE = 'module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:100"} {\n'
ARGS = [("q_desc", "!desc"), ("k_desc", "!desc"), ("v_desc", "!desc"), ("o_desc", "!desc"), ("tiles", "i32")]
INDICES = ["%i0 = arith.constant 0 : i32", "%i1 = arith.constant 1 : i32"]
TOKEN = "tensor<1x!nvws.token>"
# Who produces and consumes each channel, how often, and whether it is the TMA or the tensor core that
# says a slot is full (`tma`, `mma`), empty (`free`: the tensor core), or a thread.
CHANNELS = (
    [(f"q{g}", "tile", 1, "tma", "mma") for g in "01"]
    + [("k", "block", 2, "tma", "mma"), ("v", "block", 2, "tma", "mma")]
    + [(f"s{g}", "block", 1, "mma", "thread") for g in "01"]
    + [(f"p{g}", "block", 1, "thread", None) for g in "01"]
    + [(f"alpha{g}", "block", 1, "thread", "thread") for g in "01"]
    + [(f"{x}{g}", "tile", 1, "thread", "thread") for x in "ml" for g in "01"]
    + [(f"o{g}", "block", 1, "thread", "mma") for g in "01"]
    + [(f"stage{g}", "tile", 1, "thread", "thread") for g in "01"]
)


class Kernel:
    """One form and variant; collects the ops of each task by where in the loops they stand."""

    def __init__(self, form, variant):
        self.form, self.variant = form, variant
        self.single = form in ("tagged", "planned")
        self.tokens = form in ("token", "tagged")
        self.cadence = {name: cadence for name, cadence, *_ in CHANNELS}
        self.depth = {name: depth for name, _, depth, *_ in CHANNELS}
        self.ops = {task: {"top": [], "pre": [], "inner": [], "post": []} for task in TASKS}
        self.carried = {task: [] for task in TASKS}
        self.serial = 0
        for task in TASKS:
            getattr(self, task.rstrip("01"))(task, task[-1])

    # ops

    def put(self, task, at, text, types="", attrs="", rest=""):
        """An op: its text before and behind the attribute dictionary."""
        if self.single:
            attrs = ", ".join(x for x in (f"async_task_id = array<i32: {TASKS.index(task)}>", attrs) if x)
        self.ops[task][at].append(text + (f" {{{attrs}}}" if attrs else "") + rest + (f" : {types}" if types else ""))

    def name(self, hint):
        self.serial += 1
        return f"%{hint}_{self.serial}"

    def is_token(self, channel, half):
        kind = next(kinds[half == "empty"] for name, _, _, *kinds in CHANNELS if name == channel)
        return self.tokens and kind == "thread"

    def bar(self, task, at, channel, half):
        ring = f"%{channel}_{half}"
        if self.depth[channel] == 1:
            return ring
        slot = self.name(f"{channel}_{half}")
        self.put(task, at, f"{slot} = ttg.memdesc_index {ring}[%slot]", "!bars -> !bar")
        return slot

    def wait(self, task, at, channel, half, cadence=None):
        """Waits until a slot is full, or free again."""
        if self.form == "planned":
            return
        cadence = cadence or self.cadence[channel]
        phase = {"tile": "tile_phase", "block": "block_phase"}[cadence] if self.depth[channel] == 1 else "ring_phase"
        if self.is_token(channel, half):
            op = "nvws.producer_acquire" if half == "empty" else "nvws.consumer_wait"
            self.put(task, at, f"{op} %{channel}_token, %c0, %{phase}", f"{TOKEN}, i32, i1")
            return
        bar = self.bar(task, at, channel, half)
        self.put(task, at, f"ttng.wait_barrier {bar}, %{phase}_{'x' if half == 'empty' else 'w'}", "!bar")

    def arrive(self, task, at, channel, half):
        if self.form == "planned":
            return
        if self.is_token(channel, half):
            op = "nvws.consumer_release" if half == "empty" else "nvws.producer_commit"
            self.put(task, at, f"{op} %{channel}_token, %c0", f"{TOKEN}, i32")
            return
        self.put(task, at, f"ttng.arrive_barrier {self.bar(task, at, channel, half)}, 1", "!bar")

    # tasks

    def load(self, task, _):
        for at, names in (("pre", ("q0", "q1")), ("inner", ("k", "v"))):
            for x in names:
                self.copy_in(task, at, x)

    def copy_in(self, task, at, x):
        desc = f"%{x[0]}_desc[{'%row' + x[1] if x[0] == 'q' else '%key'}, %c0]"
        if self.form == "planned":
            value = self.name(x)
            self.put(task, at, f"{value} = tt.descriptor_load {desc}", "!desc -> tensor<128x64xbf16, #half>")
            self.put(task, at, f"ttg.local_store {value}, %{x}", "tensor<128x64xbf16, #half> -> !tile")
            return
        self.wait(task, at, x, "empty")
        bar = self.bar(task, at, x, "full")
        buffer = self.slot(task, at, x)
        self.put(task, at, f"ttng.barrier_expect {bar}, 16384", "!bar", rest=", %true")
        self.put(task, at, f"ttng.async_tma_copy_global_to_local {desc} {buffer}, {bar}, %true", "!desc, !bar -> !tile")

    def slot(self, task, at, x):
        if self.depth[x] == 1 or self.form == "planned":
            return f"%{x}"
        slot = self.name(x)
        self.put(task, at, f"{slot} = ttg.memdesc_index %{x}[%slot]", "!ring -> !tile")
        return slot

    def commit(self, task, at, channel, half):
        if self.form != "planned":
            self.put(task, at, f"ttng.tc_gen5_commit {self.bar(task, at, channel, half)}", "!bar")

    def mma(self, task, _):
        for g in "01":
            self.wait(task, "pre", f"q{g}", "full")
        packed = [f"{x}{g}" for g in "01" for x in "ml"]
        if self.variant == "fixed":
            for x in packed:
                self.wait(task, "pre", x, "empty")
        self.wait(task, "inner", "k", "full")
        k = self.slot(task, "inner", "k")
        kt = self.name("kt")
        self.put(task, "inner", f"{kt} = ttg.memdesc_trans {k}", "!tile -> !tileT", "order = array<i32: 1, 0>")
        for g in "01":
            self.wait(task, "inner", f"s{g}", "empty")
            if self.variant == "cadence":
                for x in "ml":
                    self.wait(task, "inner", f"{x}{g}", "empty", "block")
            self.dot(task, f"%q{g}", kt, f"%s{g}", "%false", "!tile, !tileT, !scores")
            self.commit(task, "inner", f"s{g}", "full")
        self.commit(task, "inner", "k", "empty")
        self.between = len(self.ops[task]["inner"])
        self.wait(task, "inner", "v", "full")
        v = self.slot(task, "inner", "v")
        for g in "01":
            self.wait(task, "inner", f"p{g}", "full")
            self.wait(task, "inner", f"o{g}", "full")
            self.dot(task, f"%p{g}", v, f"%o{g}", "%true", "!p, !tile, !out")
            self.commit(task, "inner", f"o{g}", "empty")
        self.commit(task, "inner", "v", "empty")
        for g in "01":
            self.commit(task, "post", f"q{g}", "empty")

    def dot(self, task, a, b, d, accumulate, types):
        self.put(task, "inner", f"ttng.tc_gen5_mma {a}, {b}, {d}, {accumulate}, %true", types, "is_async")

    def softmax(self, task, g):
        column = "tensor<128x1xf32, #col>"
        tile, vec = "tensor<128x128xf32, #rows>", "tensor<128xf32, #row>"
        put = lambda text, types="", attrs="": self.put(task, "inner", text, types, attrs)
        m, l = f"%m_i{g}", f"%l_i{g}"
        self.constant(task, f"%m_first{g}", f"dense<0xFF800000> : {vec}")
        self.constant(task, f"%l_first{g}", f"dense<0.0> : {vec}")
        self.carried[task] = [(m, f"%m_first{g}", vec, f"%m_new{g}"), (l, f"%l_first{g}", vec, f"%l_new{g}")]
        self.wait(task, "inner", f"s{g}", "full")
        put(f"%x{g} = ttng.tmem_load %s{g}", f"!scores -> {tile}")
        self.arrive(task, "inner", f"s{g}", "empty")
        self.reduce(task, f"%max{g}", f"%x{g}", "arith.maxnumf", tile, vec)
        put(f"%m_new{g} = arith.maxnumf {m}, %max{g}", vec)
        put(f"%d{g} = arith.subf {m}, %m_new{g}", vec)
        put(f"%a{g} = math.exp2 %d{g}", vec)
        self.pack(task, "inner", f"alpha{g}", f"%a{g}", vec, column)
        put(f"%mc{g} = tt.expand_dims %m_new{g}", f"{vec} -> tensor<128x1xf32, #rows>", "axis = 1 : i32")
        put(f"%mb{g} = tt.broadcast %mc{g}", f"tensor<128x1xf32, #rows> -> {tile}")
        put(f"%e{g} = arith.subf %x{g}, %mb{g}", tile)
        put(f"%w{g} = math.exp2 %e{g}", tile)
        put(f"%wp{g} = arith.truncf %w{g}", f"{tile} to tensor<128x128xbf16, #rows>")
        put(f"ttng.tmem_store %wp{g}, %p{g}, %true", "tensor<128x128xbf16, #rows> -> !p")
        self.arrive(task, "inner", f"p{g}", "full")
        self.reduce(task, f"%sum{g}", f"%w{g}", "arith.addf", tile, vec)
        put(f"%l_scaled{g} = arith.mulf {l}, %a{g}", vec)
        put(f"%l_new{g} = arith.addf %l_scaled{g}, %sum{g}", vec)
        for x, number in (("m", 0), ("l", 1)):
            self.pack(task, "post", f"{x}{g}", self.result(task, number), vec, column)

    def constant(self, task, name, value):
        attrs = f" {{async_task_id = array<i32: {TASKS.index(task)}>}}" if self.single else ""
        self.ops[task]["top"].append(f"{name} = arith.constant{attrs} {value}")

    def result(self, task, number):
        """The value of a carried variable after the inner loop."""
        if not self.single:
            return f"%inner#{number + 1}"
        before = sum(len(self.carried[t]) for t in TASKS[: TASKS.index(task)])
        return f"%inner#{before + number + 1}"

    def reduce(self, task, name, value, op, tile, vec):
        tag = f"{{async_task_id = array<i32: {TASKS.index(task)}>}} " if self.single else ""
        a, b, c = self.name("a"), self.name("b"), self.name("c")
        self.ops[task]["inner"] += [
            f'{name} = "tt.reduce"({value}) <{{axis = 1 : i32}}> ({{',
            f"^bb0({a}: f32, {b}: f32):",
            f"  {c} = {op} {a}, {b} {tag}: f32",
            f"  tt.reduce.return {c} {tag}: f32",
            f"}}) {tag}: ({tile}) -> {vec}",
        ]

    def pack(self, task, at, x, value, vec, column):
        """Stores a vector to its column and hands it on."""
        wide, narrow = self.name("wide"), self.name("col")
        self.put(task, at, f"{wide} = tt.expand_dims {value}", f"{vec} -> tensor<128x1xf32, #rows>", "axis = 1 : i32")
        self.put(task, at, f"{narrow} = ttg.convert_layout {wide}", f"tensor<128x1xf32, #rows> -> {column}")
        self.wait(task, at, x, "empty")
        self.put(task, at, f"ttng.tmem_store {narrow}, %{x}, %true", f"{column} -> !column")
        self.arrive(task, at, x, "full")

    def unpack(self, task, at, x):
        """Takes a vector from its column, spread over the output's columns."""
        self.wait(task, at, x, "full")
        raw, narrow, wide = self.name(x), self.name("narrow"), self.name("wide")
        self.put(task, at, f"{raw} = ttng.tmem_load %{x}", "!column -> tensor<128x1xf32, #col>")
        self.arrive(task, at, x, "empty")
        self.put(task, at, f"{narrow} = ttg.convert_layout {raw}", "tensor<128x1xf32, #col> -> tensor<128x1xf32, #half>")
        self.put(task, at, f"{wide} = tt.broadcast {narrow}", "tensor<128x1xf32, #half> -> tensor<128x64xf32, #half>")
        return wide

    def correction(self, task, _):
        out = "tensor<128x64xf32, #half>"
        self.constant(task, "%zeros", f"dense<0.0> : {out}")
        for g in "01":
            self.put(task, "pre", f"ttng.tmem_store %zeros, %o{g}, %true", f"{out} -> !out")
        for g in "01":
            alpha = self.unpack(task, "inner", f"alpha{g}")
            old, new = self.name("old"), self.name("new")
            self.put(task, "inner", f"{old} = ttng.tmem_load %o{g}", f"!out -> {out}")
            self.put(task, "inner", f"{new} = arith.mulf {old}, {alpha}", out)
            self.put(task, "inner", f"ttng.tmem_store {new}, %o{g}, %true", f"{out} -> !out")
            self.arrive(task, "inner", f"o{g}", "full")
        for g in "01":
            # The MMA has added its product: the next block rescales it.
            if self.form != "planned":
                self.put(task, "inner", f"ttng.wait_barrier %o{g}_empty, %block_phase_w", "!bar")
        for g in "01":
            m = self.unpack(task, "post", f"m{g}")
            l = self.unpack(task, "post", f"l{g}")
            raw, ratio, shifted, small = (self.name(x) for x in ("raw", "ratio", "shifted", "small"))
            self.put(task, "post", f"{raw} = ttng.tmem_load %o{g}", f"!out -> {out}")
            self.put(task, "post", f"{ratio} = arith.divf {raw}, {l}", out)
            self.put(task, "post", f"{shifted} = arith.addf {ratio}, {m}", out)
            self.put(task, "post", f"{small} = arith.truncf {shifted}", f"{out} to tensor<128x64xbf16, #half>")
            self.wait(task, "post", f"stage{g}", "empty")
            self.put(task, "post", f"ttg.local_store {small}, %stage{g}", "tensor<128x64xbf16, #half> -> !tile")
            self.fence(task, "post")
            self.arrive(task, "post", f"stage{g}", "full")

    def fence(self, task, at):
        if self.form != "planned":
            self.put(task, at, "ttng.fence_async_shared", "", "bCluster = false")

    def store(self, task, _):
        for g in "01":
            self.wait(task, "post", f"stage{g}", "full")
            token = self.name("stored")
            if self.form == "final":
                self.put(task, "post", f"ttng.async_tma_copy_local_to_global %o_desc[%row{g}, %c0] %stage{g}", "!desc, !tile")
                self.put(task, "post", "ttng.async_tma_store_wait", "", "pendings = 0 : i32")
            else:
                self.put(task, "post", f"{token} = ttng.async_tma_copy_local_to_global %o_desc[%row{g}, %c0] %stage{g}", "!desc, !tile -> !ttg.async.token")
                self.put(task, "post", f"ttng.async_tma_store_token_wait {token}", "!ttg.async.token")
            self.arrive(task, "post", f"stage{g}", "empty")

    # text

    def allocations(self):
        lines = []
        shared = lambda id, copy=1: f" {{buffer.copy = {copy} : i32, buffer.id = {id} : i32}}" if self.single else ""
        for number, x in enumerate(("q0", "q1", "stage0", "stage1")):
            lines.append(f"%{x} = ttg.local_alloc{shared(number)} : () -> !tile")
        for number, x in enumerate(("k", "v")):
            ty = "!tile" if self.form == "planned" else "!ring"
            lines.append(f"%{x} = ttg.local_alloc{shared(4 + number, 2)} : () -> {ty}")
        for g in "01":
            lines.append(f"%s{g} = ttng.tmem_alloc{shared(6 + int(g))} : () -> !scores")
            if self.single:
                at = lambda offset: f"{{buffer.copy = 1 : i32, buffer.id = {6 + int(g)} : i32, buffer.offset = {offset} : i32}}"
                lines.append(f"%p{g} = ttng.tmem_alloc {at(0)} : () -> !p")
                for x, offset in CHUNKS.items():
                    apart = self.variant == "apart" and x != "alpha"
                    attrs = shared(10 + 2 * int(g) + offset - 65).strip() if apart else at(offset)
                    lines.append(f"%{x}{g} = ttng.tmem_alloc {attrs} : () -> !column")
            lines.append(f"%o{g} = ttng.tmem_alloc{shared(8 + int(g))} : () -> !out")
        return lines

    def barriers(self):
        """Allocations, initialisations, and the names that partitions capture, with types."""
        lines, first, names = [], [], []
        if self.form == "planned":
            return lines, names
        for name, _, depth, full, empty in CHANNELS:
            if self.tokens and "thread" in (full, empty):
                kind = 4 if name[0] != "s" or name[1] in "01" else 3
                lines.append(f"%{name}_token = nvws.create_token {{loadType = {kind} : i32, numBuffers = 1 : i32}} : {TOKEN}")
                names.append((f"{name}_token", TOKEN))
            for half, kind in (("full", full), ("empty", empty)):
                if kind is None or self.tokens and kind == "thread":
                    continue
                ty = "!bar" if depth == 1 else "!bars"
                lines.append(f"%{name}_{half} = ttg.local_alloc : () -> {ty}")
                names.append((f"{name}_{half}", ty))
                for slot in range(depth):
                    bar = f"%{name}_{half}"
                    if depth > 1:
                        bar = f"%{name}_{half}{slot}"
                        first.append(f"{bar} = ttg.memdesc_index %{name}_{half}[%i{slot}] : !bars -> !bar")
                    first.append(f"ttng.init_barrier {bar}, 1 : !bar")
        return lines + first, names

    def views(self):
        lines = []
        offset = "offset" if self.form == "final" else "N"
        for g in "01":
            lines += [
                f"%s16_{g} = ttg.memdesc_reinterpret %s{g} : !scores -> !scores16",
                f"%p{g} = ttng.tmem_subslice %s16_{g} {{{offset} = 0 : i32}} : !scores16 -> !p",
                f"%s1_{g} = ttg.memdesc_reinterpret %s{g} : !scores -> !scores1",
            ]
            for x, column in CHUNKS.items():
                lines.append(f"%{x}{g} = ttng.tmem_subslice %s1_{g} {{{offset} = {column} : i32}} : !scores1 -> !column")
        return lines

    def constants(self, tasks):
        lines = ["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", "%c2 = arith.constant 2 : i32", "%c128 = arith.constant 128 : i32", "%blocks = arith.constant 4 : i32", "%true = arith.constant true", "%false = arith.constant false"]
        lines += ["%pid = tt.get_program_id x : i32", "%programs = tt.get_num_programs x : i32"]
        for task in tasks:
            lines += self.ops[task]["top"]
        return lines

    def phases(self, which, counter):
        """Phases from a counter: of a wait (i32 for barriers, i1 for tokens), and the other one."""
        if self.form == "planned":
            return []
        lines = []
        if which == "ring":
            lines += [f"%slot = arith.remui {counter}, %c2 : i32", f"%round = arith.divui {counter}, %c2 : i32"]
            counter = "%round"
        lines += [f"%{which}_phase_w = arith.andi {counter}, %c1 : i32", f"%{which}_phase_x = arith.xori %{which}_phase_w, %c1 : i32"]
        if self.tokens and which != "ring":
            lines.append(f"%{which}_phase = arith.trunci %{which}_phase_w : i32 to i1")
        return lines

    def body(self, tasks):
        """Both loops with the ops of these tasks."""
        number = {task: TASKS.index(task) for task in tasks}
        tag = f" {{async_task_id = array<i32: {', '.join(str(number[t]) for t in tasks)}>}}" if self.single else ""
        all_tag = lambda lines: [re.sub(r"( : [^:]*)$", lambda m: tag + m.group(1), line) for line in lines] if self.single else lines
        take = lambda at: [line for task in (self.sequence(at) or tasks) for line in self.ops_of(task, at)]
        carried = [c for task in tasks for c in self.carried[task]]
        inner = all_tag(["%key = arith.muli %block, %c128 : i32"] + self.phases("block", "%n") + self.phases("ring", "%n"))
        inner += take("inner") + all_tag(["%n_next = arith.addi %n, %c1 : i32"])
        yields = ["%n_next"] + [c[3] for c in carried]
        types = ["i32"] + [c[2] for c in carried]
        inner.append(f"scf.yield{tag} {', '.join(yields)} : {', '.join(types)}")
        args = ["%n = %n_first"] + [f"{c[0]} = {c[1]}" for c in carried]
        count = len(args)
        outer = all_tag(
            ["%row0 = arith.muli %tile_id, %c128 : i32", "%row1 = arith.addi %row0, %c128 : i32"] + self.phases("tile", "%t")
        )
        outer += take("pre")
        result = "%inner" + (f":{count}" if count > 1 else "")
        outer.append(f"{result} = scf.for %block = %c0 to %blocks step %c1 iter_args({', '.join(args)}) -> ({', '.join(types)}) : i32 {{")
        outer += ["  " + line for line in inner] + ["}" + tag]
        outer += take("post") + all_tag(["%t_next = arith.addi %t, %c1 : i32"])
        outer.append(f"scf.yield{tag} %t_next, %inner{'#0' if count > 1 else ''} : i32, i32")
        lines = ["%done:2 = scf.for %tile_id = %pid to %tiles step %programs iter_args(%t = %c0, %n_first = %c0) -> (i32, i32) : i32 {"]
        close = "}" if not self.single else "} {async_task_id = array<i32: 0, 1, 2, 3, 4, 5>, tt.warp_specialize}"
        return lines + ["  " + line for line in outer] + [close]

    def sequence(self, at):
        """A plan is a program that one thread could run: what is read was written before."""
        if self.form != "planned":
            return None
        orders = {"pre": ["correction", "load"], "inner": ["load", "scores", "softmax0", "softmax1", "correction", "output"]}
        return orders.get(at, ["softmax0", "softmax1", "correction", "store"])

    def ops_of(self, task, at):
        """The ops of a task, or those of the MMA up to and from the point between its two products."""
        halves = {"scores": slice(None, self.between), "output": slice(self.between, None)}
        return self.ops["mma"][at][halves[task]] if task in halves else self.ops[task][at]

    def text(self):
        title = f"// Attention with m and l packed beside the scores, form: {self.form}, variant: {self.variant}. Written by make.py."
        lines = self.allocations()
        sync, names = self.barriers()
        if self.single:
            body = INDICES + self.constants(TASKS) + lines + sync + self.body(TASKS) + ["tt.return"]
            types = ALLOCS
        else:
            types = VIEWS
            captured = [(x, "!tile") for x in ("q0", "q1", "stage0", "stage1")] + [("k", "!ring"), ("v", "!ring")]
            captured += [(f"{x}{g}", ty) for g in "01" for x, ty in (("s", "!scores"), ("o", "!out"))]
            captured += names + ARGS
            body = INDICES + lines + sync
            body.append(f"ttg.warp_specialize({', '.join('%' + x for x, _ in captured)})")
            for number, task in enumerate(TASKS):
                ops = self.constants([task]) + self.views() + self.body([task])
                if number == 0:
                    body += ["default {"] + ["  " + op for op in ops + ["ttg.warp_yield"]] + ["}"]
                else:
                    warps = 4 if "softmax" in task else 1
                    # What a partition captures must not have a name of the function's.
                    own = {f"%{x}": f"%p{number - 1}_{x}" for x, _ in captured}
                    ops = [re.sub(r"%\w+", lambda m: own.get(m.group(), m.group()), op) for op in ops]
                    args = ", ".join(f"{own['%' + x]}: {ty}" for x, ty in captured)
                    body += [f"partition{number - 1}({args}) num_warps({warps}) {{"] + ["  " + op for op in ops + ["ttg.warp_return"]] + ["}"]
            body[-1] += f" : ({', '.join(ty for _, ty in captured)}) -> ()"
            body.append("tt.return")
        args = ", ".join(f"%{x}: {ty}" for x, ty in ARGS)
        inner = "".join(f"    {line}\n" for line in body)
        return f"{title}\n{HEADER}{types}{MODULE}  tt.func public @attention({args}) {{\n{inner}  }}\n}}\n"


def prune(text):
    """Leaves out values that nobody uses."""
    while True:
        counts = {}
        for name in re.findall(r"%[A-Za-z_]\w*", text):
            counts[name] = counts.get(name, 0) + 1
        lines = text.splitlines(keepends=True)
        pure = re.compile(r"^\s*(%[A-Za-z_]\w*) = (arith|ttng\.tmem_subslice|ttg\.memdesc_|tt\.get_)")
        blocks, keep = block_of(lines), []
        for at, line in enumerate(lines):
            found = pure.match(line)
            keep.append(not found or used(found.group(1), at, lines, blocks))
        if all(keep):
            return text
        text = "".join(line for line, kept in zip(lines, keep) if kept)


def block_of(lines):
    """Number of the partition that each line stands in; 0 for the function and the default region."""
    number, out = 0, []
    for line in lines:
        if line.startswith("    partition"):
            number += 1
        out.append(number)
    return out


def used(name, at, lines, blocks):
    word = re.compile(re.escape(name) + r"(?!\w)")
    return any(number != at and blocks[number] == blocks[at] and word.search(line) for number, line in enumerate(lines))


def main():
    forms = {form: ("fixed", "broken", "cadence") for form in ("final", "token", "tagged")}
    forms["planned"] = ("packed", "apart")
    for form, variants in forms.items():
        for variant in variants:
            with open(f"{HERE}/{form}_{variant}.ttgir", "w") as file:
                file.write(prune(Kernel(form, variant).text()))


if __name__ == "__main__":
    main()
