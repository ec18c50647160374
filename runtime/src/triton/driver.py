"""Runs one kernel under a sanitizer for Fencepost, in the user's own Python.

`python -u driver.py JOB`: JOB is a JSON document that says what to run. What happens is told on standard output, one
JSON document a line; all that Triton, the device and the user's code print goes to standard error. Standard input is
a lifeline: when it ends, whoever started this is gone, and the whole process group with it.
"""

import json
import os
import signal
import sys

TELLS = os.fdopen(os.dup(1), "w", encoding="utf-8")


def hold_on(folder):
    """Ends the process group when the lifeline does, and removes what it left. A process of its own, in a group of its
    own: a hung kernel may hold every thread, and somebody has to be left to clean up."""
    lifeline, parent = os.dup(0), os.getpid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    if not hasattr(os, "fork") or os.getpgrp() != parent:
        return
    if os.fork():
        os.close(lifeline)
        return
    os.setsid()
    # Holding none of the outputs open: whoever reads them waits for their end.
    null = os.open(os.devnull, os.O_RDWR)
    for output in (1, 2, TELLS.fileno()):
        os.dup2(null, output)
    import select
    while os.getppid() == parent:
        ready, _, _ = select.select([lifeline], [], [], 0.2)
        if ready and not os.read(lifeline, 64):
            try:
                os.killpg(parent, signal.SIGKILL)
            except ProcessLookupError:
                pass
            if folder:
                import shutil
                os.chdir("/")
                shutil.rmtree(folder, ignore_errors=True)
            break
    os._exit(0)


def tell(event, **fields):
    fields["event"] = event
    TELLS.write(json.dumps(fields) + "\n")
    TELLS.flush()


class Refused(Exception):
    """It cannot be run at all, and why."""


def version_of(text):
    numbers = []
    for part in text.split("+")[0].split(".")[:3]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)


def greet(job):
    """Imports Triton and says which it is."""
    hello = {"python": sys.version.split()[0], "triton": None, "torch": None, "why": None, "has_gsan": False}
    try:
        import triton
        hello["triton"] = triton.__version__
    except Exception as error:  # noqa: BLE001 - told as it is
        hello["why"] = f"{type(error).__name__}: {error}"
        tell("hello", **hello)
        return None
    if job["mode"] != "ttgir" or job["instrument"] == "gsan" or version_of(triton.__version__) < (3, 9):
        try:
            import torch
            hello["torch"] = torch.__version__
        except Exception:  # noqa: BLE001 - may be needed or not
            pass
    if job["instrument"] == "gsan":
        import importlib.util
        try:
            hello["has_gsan"] = importlib.util.find_spec("triton.experimental.gsan") is not None
        except ImportError:
            pass
    tell("hello", **hello)
    return triton


class Cuda:
    """The device through the driver's own library: no PyTorch is needed."""

    def __init__(self):
        import ctypes
        self.c = ctypes
        name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
        try:
            self.lib = ctypes.CDLL(name)
        except OSError as error:
            raise Refused(f"no NVIDIA driver: {error}") from None
        count = ctypes.c_int()
        if self.lib.cuInit(0) != 0 or self.lib.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
            raise Refused("the NVIDIA driver is there, and no GPU")
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.kept = []

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code:
            text = self.c.c_char_p()
            self.lib.cuGetErrorString(code, self.c.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'error').decode()} ({code})")

    def attribute(self, number):
        value = self.c.c_int()
        self.call("cuDeviceGetAttribute", self.c.byref(value), number, self.device)
        return value.value

    def about(self):
        name, driver = self.c.create_string_buffer(128), self.c.c_int()
        self.call("cuDeviceGetName", name, 128, self.device)
        self.call("cuDriverGetVersion", self.c.byref(driver))
        arch = 10 * self.attribute(75) + self.attribute(76)
        version = f"{driver.value // 1000}.{driver.value % 1000 // 10}"
        return {"name": name.value.decode(), "kind": "cuda", "arch": str(arch), "driver": version}

    def enter(self):
        context = self.c.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", self.c.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def upload(self, path, size):
        address = self.c.c_uint64()
        self.call("cuMemAlloc_v2", self.c.byref(address), self.c.c_size_t(max(size, 1)))
        with open(path, "rb") as file:
            data = file.read()
        self.call("cuMemcpyHtoD_v2", address, data, self.c.c_size_t(len(data)))
        return address.value

    def scratch(self, size):
        address = self.c.c_uint64()
        self.call("cuMemAlloc_v2", self.c.byref(address), self.c.c_size_t(max(size, 1)))
        return address.value

    def wait(self):
        self.call("cuCtxSynchronize")

    def download(self, address, path, size):
        data = self.c.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, self.c.c_uint64(address), self.c.c_size_t(size))
        with open(path, "wb") as file:
            file.write(data.raw)


class Torch:
    """The device through PyTorch: AMD's, and memory that the global-memory sanitizer manages."""

    def __init__(self, pool=None):
        import torch
        self.torch, self.pool, self.kept = torch, pool, {}

    def about(self):
        torch = self.torch
        if not torch.cuda.is_available():
            raise Refused("PyTorch sees no GPU")
        kind = "hip" if torch.version.hip else "cuda"
        properties = torch.cuda.get_device_properties(0)
        if kind == "hip":
            arch = properties.gcnArchName.split(":")[0]
        else:
            arch = str(10 * properties.major + properties.minor)
        return {"name": properties.name, "kind": kind, "arch": arch, "driver": torch.version.hip or torch.version.cuda}

    def enter(self):
        self.torch.cuda.init()

    def upload(self, path, size):
        torch = self.torch
        with open(path, "rb") as file:
            host = torch.frombuffer(bytearray(file.read() or b"\0"), dtype=torch.uint8)
        if self.pool is None:
            tensor = host.cuda()
        else:
            with torch.cuda.use_mem_pool(self.pool):
                tensor = torch.empty(host.shape, dtype=torch.uint8, device="cuda")
            tensor.copy_(host)
        self.kept[tensor.data_ptr()] = tensor
        return tensor.data_ptr()

    def scratch(self, size):
        torch = self.torch
        if self.pool is None:
            tensor = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        else:
            with torch.cuda.use_mem_pool(self.pool):
                tensor = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        self.kept[tensor.data_ptr()] = tensor
        return tensor.data_ptr()

    def wait(self):
        self.torch.cuda.synchronize()

    def download(self, address, path, size):
        with open(path, "wb") as file:
            file.write(self.kept[address][:size].cpu().numpy().tobytes())


class Scratch:
    """Memory that a kernel asks for beside its arguments, as Triton's launcher takes it."""

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


def lend(triton, device):
    """Gives kernels what they ask for beside their arguments: room for the descriptors that they make."""
    if hasattr(triton, "set_allocator"):
        triton.set_allocator(lambda size, alignment, stream: Scratch(device.scratch(size)))


def find_device(job):
    """The device, and what it is."""
    try:
        device = Cuda()
        about = device.about()
    except Refused as refused:
        try:
            device = Torch()
            about = device.about()
        except (ImportError, Refused):
            raise refused from None
    tell("gpu", **about)
    return device, about


def check(job, triton, about):
    """Refuses what this release and this device cannot do."""
    version, instrument = version_of(triton.__version__), job["instrument"]
    if instrument == "consan":
        if version < (3, 5, 0):
            raise Refused(f"Triton {triton.__version__} has no ConSan: it came with 3.5")
        if about["kind"] == "hip" and about["arch"] != "gfx1250":
            raise Refused(f"ConSan runs on gfx1250 among AMD's devices, and this one is {about['arch']}")
        if about["kind"] == "hip" and version < (3, 8, 0):
            raise Refused(f"Triton {triton.__version__} has no ConSan for AMD: it came with 3.8")
    if instrument == "gsan":
        import importlib.util
        if version < (3, 5, 0) or importlib.util.find_spec("triton.experimental.gsan") is None:
            raise Refused(f"Triton {triton.__version__} has no GSan")
        if passes_of_gsan() > 1:
            raise Refused(f"GSan of Triton {triton.__version__} is broken: its pass runs twice, and the launcher passes "
                          "the arguments of one; Triton's own release 3.9 has one that works, and --backend cpu has one too")
        if about["kind"] != "cuda":
            raise Refused("GSan runs on NVIDIA's devices alone")
        try:
            import torch  # noqa: F401
        except ImportError:
            raise Refused("GSan needs PyTorch, whose memory it manages, and this Python has none") from None


def passes_of_gsan():
    """How often the compiler runs GSan's pass over a kernel, by its source; 0 where that cannot be read."""
    try:
        from triton.backends.nvidia import compiler
        with open(compiler.__file__, encoding="utf-8") as file:
            return file.read().count(".add_global_sanitizer(")
    except (ImportError, OSError, UnicodeDecodeError):
        return 0


def is_on(metadata, mode):
    said = getattr(metadata, "instrumentation_mode", "") or ""
    return mode in str(said) or (mode == "consan" and bool(getattr(metadata, "enable_experimental_consan", False)))


def run_ttgir(job, triton, device, about):
    """Compiles a TTGIR file and launches it with arguments that are made."""
    from triton.backends.compiler import GPUTarget
    from triton._C.libtriton import ir
    from triton.compiler.compiler import make_backend

    wanted = job.get("target")
    have = f"{about['kind']}:{about['arch']}"
    if wanted and wanted != have:
        raise Refused(f"the kernel is compiled for {wanted}, and this GPU is {have}")
    device.enter()
    lend(triton, device)
    arch = int(about["arch"]) if about["kind"] == "cuda" else about["arch"]
    target = GPUTarget(about["kind"], arch, 32 if about["kind"] == "cuda" or arch.startswith("gfx1") else 64)
    tell("stage", text="compiling")
    context = ir.context()
    ir.load_dialects(context)
    make_backend(target).load_dialects(context)
    module = ir.parse_mlir_module(job["file"], context)
    descriptors = list(module.get_tensordesc_metadata()) if hasattr(module, "get_tensordesc_metadata") else []
    mode = "" if job["instrument"] == "none" else job["instrument"]
    options = {"instrumentation_mode": mode, "enable_experimental_consan": mode == "consan", "debug": True}
    if job.get("warps"):
        options["num_warps"] = job["warps"]
    kernel = triton.compile(job["file"], target=target, options=options)
    tell("kernel", name=kernel.metadata.name, scratch=getattr(kernel.metadata, "profile_scratch_size", 0),
         instrumented=is_on(kernel.metadata, mode) if mode else False)
    types, values, arrays = {}, [], []
    for parameter in job["parameters"]:
        types[len(values)] = parameter["type"]
        if parameter["is"] == "value":
            values.append(parameter["value"])
            continue
        address = device.upload(parameter["data"], parameter["size"])
        arrays.append((parameter, address))
        if parameter["is"] == "array":
            values.append(address)
            continue
        if not descriptors:
            raise Refused(f"Triton {triton.__version__} does not say how the descriptors of a TTGIR file are made")
        values.append(tensor_map(triton, descriptors.pop(0), address, parameter))
    kernel.src.signature = types
    tell("stage", text="running")
    try:
        kernel[tuple(job["grid"])](*values)
        device.wait()
    finally:
        tell("launched", name=kernel.metadata.name, grid=job["grid"])
    for parameter, address in arrays:
        device.download(address, parameter["data"], parameter["size"])
        tell("output", name=parameter["name"])


def tensor_map(triton, about, address, parameter):
    """A descriptor for the hardware, with what the module says of its layout."""
    utils = triton.runtime.driver.active.utils
    kinds = {index: index for index in range(16)}
    kinds.update({8: 10, 9: 8, 10: 9})  # the device counts types otherwise than the host
    if about.get("is_im2col", False):
        raise Refused("an im2col descriptor cannot be made from a recipe")
    shape = list(parameter["shape"])
    if about["fp4_padded"]:
        shape[-1] *= 2
    make = getattr(utils, "fill_tma_descriptor_tiled", None) or utils.fill_tma_descriptor
    return make(address, about["swizzle"], about["elem_size"], kinds[about["elem_type"]], about["block_size"], shape,
                parameter["strides"], 0)


def load(path):
    import importlib.util
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run_python(job, triton, device):
    """Runs the user's own code, which makes the launch."""
    tell("stage", text="running Python")
    if job["mode"] == "pytest":
        import pytest
        code = pytest.main(["-x", "-q", "-s", "-p", "no:cacheprovider", job["node"]])
        if code == 5:
            raise Refused(f"pytest finds no test `{job['node']}`")
        if code not in (0, 1):
            raise RuntimeError(f"pytest ended with {int(code)}")
        if code == 1:
            raise RuntimeError("the test failed")
    elif job["mode"] == "main":
        import runpy
        sys.argv = [job["file"], *job["argv"]]
        sys.path.insert(0, os.path.dirname(os.path.abspath(job["file"])))
        runpy.run_path(job["file"], run_name="__main__")
    else:
        module = load(job["file"])
        if job["mode"] == "call":
            eval(job["expression"], vars(module))  # noqa: S307 - the user's own file and request
        else:
            lend(triton, device)
            launch(job, module)
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.synchronize()


DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16",
          "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8E4M3FN": "float8_e4m3fn",
          "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
          "f8E8M0FNU": "float8_e8m0fnu", "f4E2M1FN": "uint8", "u8": "uint8", "u16": "uint16", "u32": "uint32",
          "u64": "uint64"}


def launch(job, module):
    """A launch with tensors that are made, by the names of the kernel's parameters."""
    try:
        import torch
    except ImportError:
        raise Refused("a launch that is made for a Python kernel needs PyTorch, and this Python has none") from None
    kernel = getattr(module, job["kernel"], None)
    if kernel is None:
        raise Refused(f"`{job['kernel']}` is not at the top of the file")
    names = dict(vars(module))
    names.setdefault("torch", torch)
    given, tensors = {}, []
    for argument in job["arguments"]:
        if argument["is"] == "array":
            with open(argument["data"], "rb") as file:
                raw = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
            flat = raw.view(getattr(torch, DTYPES[argument["dtype"]])).cuda()
            value = flat.as_strided(argument["shape"], argument["strides"])
            tensors.append((argument, flat))
        elif argument["is"] == "python":
            value = eval(argument["value"], {**names, **given})  # noqa: S307 - as above
        else:
            value = argument["value"]
        given[argument["name"]] = value
    known = getattr(kernel, "arg_names", None)
    kernel[tuple(job["grid"])](**{name: value for name, value in given.items() if known is None or name in known})
    torch.cuda.synchronize()
    for argument, flat in tensors:
        with open(argument["data"], "wb") as file:
            file.write(flat.view(torch.uint8).cpu().numpy().tobytes())
        tell("output", name=argument["name"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    hold_on(job.get("folder"))
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    code = 0
    try:
        triton = greet(job)
        if triton is None:
            return 3
        device, about = find_device(job)
        check(job, triton, about)
        with_pool = None
        if job["instrument"] == "gsan":
            import torch
            from triton.experimental.gsan._allocator import create_mem_pool
            triton.knobs.compilation.instrumentation_mode = "gsan"
            with_pool = create_mem_pool()
            device = Torch(with_pool)
        if job["mode"] == "ttgir":
            run_ttgir(job, triton, device, about)
        elif with_pool is not None:
            with torch.cuda.use_mem_pool(with_pool):
                run_python(job, triton, device)
        else:
            run_python(job, triton, device)
        tell("done")
    except Refused as refused:
        tell("refused", why=str(refused))
        code = 3
    except SystemExit as ended:
        if ended.code not in (None, 0):
            tell("failed", kind="SystemExit", text=str(ended.code), trace="")
        else:
            tell("done")
    except BaseException as error:  # noqa: BLE001 - told as it is
        import traceback
        trace = "".join(traceback.format_exception(error)[-6:])
        tell("failed", kind=type(error).__name__, text=str(error)[-4000:], trace=trace[-4000:])
        code = 1
    return code


if __name__ == "__main__":
    code = main()
    TELLS.flush()
    sys.stderr.flush()
    # The context of a device that asserted is gone, and its teardown may never end.
    os._exit(code)
