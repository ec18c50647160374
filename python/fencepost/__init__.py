"""Fencepost finds GPU barrier bugs in Gluon, Triton and TTGIR. The program is a binary beside Python's own."""

from __future__ import annotations

import os
import sysconfig

__all__ = ["find_binary"]


def find_binary() -> str:
    """The path of the binary that came with this package."""
    name = "fencepost" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    # `pip install --target FOLDER` puts the scripts into FOLDER/bin.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"{name} is in none of {', '.join(folders)}")
