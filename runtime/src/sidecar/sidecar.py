"""Compiles kernels of Gluon and of Triton to TTGIR for Fencepost, in the user's own Python.

Reads one JSON request a line and answers with one JSON line. No GPU is needed: the target is named.
A request imports the user's file, that is, it runs it; so this only starts where the user asked for it.
"""

import importlib.util
import inspect
import json
import os
import re
import sys
import threading
import time
import traceback

# The file may print: its output goes to standard error, the answers keep standard output to themselves.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
sys.dont_write_bytecode = True
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


def leave_with(parent):
    """Ends with whoever started this, also while a file is being imported."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def answer(message):
    ANSWERS.write(json.dumps(message) + "\n")
    ANSWERS.flush()


def target_of(name):
    from triton.backends.compiler import GPUTarget
    if name.startswith("gfx"):
        return GPUTarget("hip", name, 32 if name.startswith("gfx1") else 64)
    return GPUTarget("cuda", int(re.sub(r"\D", "", name)), 32)


class NamedTarget:
    """Stands for the driver on a machine without a GPU, so that files can ask what they run on."""

    def __init__(self, target):
        self.target = target

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return "cpu"

    def __getattr__(self, name):
        raise RuntimeError(f"there is no GPU here to ask for `{name}`")


def without_gpu(target):
    from triton.runtime import driver
    try:
        driver.active.get_current_target()
    except Exception:  # noqa: BLE001 - whatever the driver says, there is none
        driver.set_active(NamedTarget(target))
    else:
        if isinstance(driver.active, NamedTarget):
            driver.set_active(NamedTarget(target))


def load(path):
    """Runs the file anew, and the files beside it that it imports."""
    folder = os.path.dirname(os.path.abspath(path))
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name != "__main__" and os.path.dirname(os.path.abspath(file)) == folder and file:
            del sys.modules[name]
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def kernel_of(module, name, line):
    """The jitted function of this name; where it was wrapped, the one inside."""
    from triton.runtime.jit import JITFunction
    found = getattr(module, name, None)
    while found is not None and not isinstance(found, JITFunction):
        found = getattr(found, "fn", None)
    if found is None:
        raise LookupError(f"`{name}` is not a kernel at the top of the file")
    return found


def names_of(module):
    """What a value of a specialisation may name: the file's names, `gl`, and Triton's short dtype names."""
    from triton.experimental.gluon import language as gl
    names = {name: getattr(gl, name) for name in dir(gl) if not name.startswith("_")}
    names.update(gl=gl, ttgl=gl)
    names.update(vars(module))
    return names


def signature_of(text, gluon):
    """A type in Triton's notation; for Gluon a descriptor without a layout gets the default one."""
    text = text.removesuffix(":16")
    shape = re.fullmatch(r"tensordesc<(\w+)\[([\d, ]+)\]>", text)
    if not shape or not gluon:
        return text
    from triton.experimental.gluon import language as gl
    short = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    word = shape.group(1)
    wide = re.fullmatch(r"([iu])(\d+)", word)
    full = f"{'u' if wide.group(1) == 'u' else ''}int{wide.group(2)}" if wide else short.get(word, word.replace("fp8", "float8"))
    block = [int(size) for size in shape.group(2).split(",")]
    layout = gl.NVMMASharedLayout.get_default_for(block, getattr(gl, full))
    return f"tensordesc<{word}[{','.join(map(str, block))}],{layout!r}>"


def in_clusters(kernel, count, options):
    """The CTAs of a cluster: those of TLX run programs of their own, which facebookexperimental's release has an option for."""
    own = "ctas_per_cga" in getattr(options, "__dataclass_fields__", {})
    if count > 1 and own and "tlx" in getattr(kernel, "__globals__", {}):
        return {"num_ctas": 1, "ctas_per_cga": (count, 1, 1)}
    return {"num_ctas": count}


def call(function, **available):
    """Calls with the parameters that this release has."""
    wanted = inspect.signature(function).parameters
    return function(**{name: value for name, value in available.items() if name in wanted})


def compile_kernel(module, request):
    from triton._C.libtriton import ir
    from triton.compiler.compiler import ASTSource, make_backend
    from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction

    kernel = kernel_of(module, request["name"], request.get("line"))
    names = names_of(module)
    values = {name: eval(text, names) for name, text in request["constexprs"].items()}  # noqa: S307 - the user's own file
    parameters = kernel.arg_names
    gluon = isinstance(kernel, GluonJITFunction)
    given, aligned = {}, {}
    for at, name in enumerate(parameters):
        if name in values:
            given[name] = "constexpr"
        elif name in request["signature"]:
            text = request["signature"][name]
            if text.endswith(":1"):
                given[name], values[name] = "constexpr", 1
                continue
            given[name] = signature_of(text, gluon)
            if text.startswith("*") or text.endswith(":16"):
                aligned[(at, )] = [["tt.divisibility", 16]]
        else:
            default = kernel.params[at].default
            if default is inspect.Parameter.empty:
                raise LookupError(f"nothing is given for the parameter `{name}`")
            given[name], values[name] = "constexpr", default
    target = target_of(request["target"])
    backend = make_backend(target)
    settings = {"num_warps": request["num_warps"]}
    settings.update(in_clusters(kernel, request["num_ctas"], backend.parse_options({})))
    # As a launch does: asserts are compiled in where the kernel or the environment asks for it.
    if getattr(kernel, "debug", None) or os.environ.get("TRITON_DEBUG", "").lower() in ("1", "true", "yes", "on", "y"):
        settings["debug"] = True
    options = backend.parse_options(settings)
    constexprs = {(parameters.index(name), ): value for name, value in values.items()}
    source = (GluonASTSource if gluon else ASTSource)(kernel, given, constexprs, aligned)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    code = call(backend.get_codegen_implementation, options=options)
    made = call(source.make_ir, target=target, options=options, codegen_fns=code,
                module_map=backend.get_module_map(), context=context)
    stages = {}
    call(backend.add_stages, stages=stages, options=options, language=source.language)
    metadata = dict(options.__dict__)
    if not gluon:
        made = stages["ttir"](made, metadata)
    return stages["ttgir"](made, metadata).str()


def serve(request):
    if not request["kernels"]:
        return []
    without_gpu(target_of(request["kernels"][0]["target"]))
    module = load(request["file"])
    results = []
    for kernel in request["kernels"]:
        started = time.perf_counter()
        try:
            results.append({"ttgir": compile_kernel(module, kernel), "error": None})
        except Exception as error:  # noqa: BLE001 - it becomes a message
            results.append({"ttgir": None, "error": f"{type(error).__name__}: {error}"})
        results[-1]["ms"] = (time.perf_counter() - started) * 1000
    return results


def main():
    threading.Thread(target=leave_with, args=(os.getppid(), ), daemon=True).start()
    try:
        import triton
        import triton.experimental.gluon  # noqa: F401
        answer({"triton": triton.__version__, "python": sys.version.split()[0], "error": None})
    except Exception as error:  # noqa: BLE001 - it becomes a message
        answer({"triton": None, "python": sys.version.split()[0], "error": f"{type(error).__name__}: {error}"})
        return
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer({"id": request["id"], "results": serve(request), "error": None})
        except BaseException as error:  # noqa: BLE001 - also what a file does at import, `sys.exit` included
            last = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({os.path.basename(last.filename)}:{last.lineno})"
            answer({"id": request["id"], "results": [], "error": said})


main()
