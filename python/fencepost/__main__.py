"""`python -m fencepost`: the binary, with the same arguments, input, output and exit code."""

import os
import subprocess
import sys

from fencepost import find_binary


def main() -> None:
    binary = find_binary()
    arguments = [binary, *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(arguments).returncode)
    os.execv(binary, arguments)


if __name__ == "__main__":
    main()
