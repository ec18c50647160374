"""Helix in a terminal that is a program: what it shows of a kernel, of a hover and of the code actions.

    python3 editors/helix/tests/run.py HX SERVER KERNELS

HX is Helix, SERVER the fencepost program, KERNELS the folder `tests/kernels`. Needs `pyte`; where that is missing it ends
with exit code 77 and says so. The configuration is the one that README.md tells to copy.
"""

import fcntl
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

try:
    import pyte
except ImportError:
    print("pyte, a terminal in Python, is not installed (pip install pyte)")
    sys.exit(77)

ROWS, COLUMNS = 45, 150
HERE = pathlib.Path(__file__).resolve().parent


class Screen(pyte.Screen):
    """Questions of newer terminals than pyte knows are left without an answer."""

    def report_device_status(self, *_, **__):
        pass

    def report_device_attributes(self, *_, **__):
        pass


class Editor:
    """Helix on a file, at a line and column from 1, with the folder of its configuration."""

    def __init__(self, program, server, config, file, line, column):
        self.screen = Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            path = os.pathsep.join([str(pathlib.Path(server).parent), os.environ.get("PATH", "")])
            os.environ.update(XDG_CONFIG_HOME=str(config), TERM="xterm-256color", COLORTERM="truecolor", PATH=path)
            os.execvp(program, [program, f"{file}:{line}:{column}"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def wait_for(self, *words, there=True):
        """Until all of the words stand on the screen, or none."""
        end = time.monotonic() + 20
        while True:
            text = " ".join(self.text().split())
            if all((word in text) == there for word in words):
                return
            if time.monotonic() > end:
                sys.exit(f"FAIL: waited for {words} on\n{self.text()}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.stream.feed(os.read(self.terminal, 1 << 16))

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def place(path, words):
    """The line and column, from 1, of the first occurrence of some words."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if words in line:
            return number, line.index(words) + 1
    sys.exit(f"FAIL: no {words!r} in {path}")


def main(program, server, kernels):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config/helix").mkdir(parents=True)
        (folder / ".git").mkdir()
        shutil.copy(HERE.parent / "languages.toml", folder / "config/helix/languages.toml")
        at_work = lambda file, words: Editor(program, server, folder / "config", file, *place(file, words))

        ttgir = folder / "ring_not_waited.ttgir"
        shutil.copy(pathlib.Path(kernels) / ttgir.name, ttgir)
        editor = at_work(ttgir, "ttng.warp_group_dot")
        # The message of the line that the cursor is on; no related places, so they stand in it.
        editor.wait_for("may still be writing it", "partition0 writes `%a[0]` and is still in flight")
        print("ok diagnostics")
        editor.press(" k")
        editor.wait_for("wgmma")
        # By itself: with what comes behind it, it would be another key.
        editor.press("\x1b")
        editor.wait_for("wgmma", there=False)
        print("ok hover")
        # `]d` goes to the finding's own range, where its actions are.
        editor.press("]d a")
        editor.wait_for("Insert `ttng.wait_barrier` on `%bar[0]`")
        editor.press("\r")
        editor.wait_for("ttng.wait_barrier %bar_0, %phase")
        print("ok actions")
        editor.close()

        # With the line of the configuration that says that runs are allowed.
        settings = folder / "config/helix/languages.toml"
        settings.write_text(settings.read_text().replace("# config = { trusted = true", "config = { trusted = true"))
        recipe = "// fencepost-run: ws_gemm grid=1 a_desc=f16[128,320] b_desc=f16[320,128] c_desc=f16[128,128]:nan K=320\n"
        ttgir.write_text(recipe + (pathlib.Path(kernels) / ttgir.name).read_text())
        editor = at_work(ttgir, "@ws_gemm(")
        # Lights up when the file has been judged.
        editor.wait_for("● 1")
        editor.press(" a")
        editor.wait_for("Run on CPU")
        editor.press("\r")
        editor.wait_for("ws_gemm grid=1 a_desc", "Cancel")
        editor.press("\r")
        editor.wait_for("the run asserted")
        print("ok run")
        editor.close()

        python = folder / "sum_rows.py"
        gluon = pathlib.Path(kernels) / "gluon"
        shutil.copy(gluon / "ring_tools.py", folder)
        kept = (gluon / python.name).read_text().splitlines(keepends=True)
        python.write_text("".join(line for line in kept if "mbarrier.wait(free" not in line))
        editor = at_work(python, "fill(desc, ring, ready, slot, i)")
        editor.wait_for("in this call of `producer`")
        print("ok python")
        editor.close()
    print("PASS")


if __name__ == "__main__":
    main(*sys.argv[1:])
