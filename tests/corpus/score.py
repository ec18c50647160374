"""Run `fencepost check` over the corpus and print where it and the manifest disagree.

`python score.py [PATH/TO/fencepost] [-v] [FILTER …]`; the binary is looked for on PATH otherwise.
A clean file is right when nothing is found; `undecided` is counted apart. A twin is right when a
finding of an acceptable kind has a site at an expected line; the other grades are `wrong line`,
`wrong kind` and `missed`.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ALIAS = re.compile(r"^#(\w+) = loc\((.*)\)$", re.M)
PLACE = re.compile(r'"([^"]*\.py)":(\d+):\d+')


class Locations:
    """Which lines of a Python source the ops of a TTGIR line come from."""

    def __init__(self, text: str):
        self.lines = text.splitlines()
        self.alias = dict(ALIAS.findall(text))

    def resolve(self, loc: str, source: str, depth: int = 0) -> set[int]:
        found = {int(line) for path, line in PLACE.findall(loc) if path == source}
        for name in re.findall(r"#(\w+)", loc):
            if depth < 12 and name in self.alias:
                found |= self.resolve(self.alias[name], source, depth + 1)
        return found

    def of_line(self, number: int, source: str) -> set[int]:
        """`number` counts from 1. Only the last `loc` of the line belongs to the op."""
        locs = re.findall(r"loc\((#\w+|.*)\)", self.lines[number - 1]) if number <= len(self.lines) else []
        return self.resolve(locs[-1].split("loc(")[-1], source) if locs else set()


def start_line(place) -> int:
    """The line of a site or a finding, from 1; the report counts from 0, as editors do."""
    return place["range"]["start"]["line"] + 1


def grade(row: dict, report: dict) -> tuple[str, str]:
    found = [f for f in report["findings"] if f["kind"] != "unmodelled"]
    said = ", ".join(sorted({f["kind"] for f in found})) or report["verdict"]
    if "bug" not in row:
        return ("ok", "") if report["verdict"] in ("proved", "clean") else (
            ("undecided" if not found else "false alarm"), said)
    if not found:
        return "missed", said
    right = [f for f in found if f["kind"] in row["kinds"]]
    if not right:
        return "wrong kind", said
    places = Locations((HERE / row["file"]).read_text())
    for finding in right:
        for place in [finding, *finding.get("sites", [])]:
            if places.of_line(start_line(place), row["source"]) & set(row["lines"]):
                best = any(f["kind"] == row["kinds"][0] for f in right)
                return ("ok" if best else "ok, other kind"), said
    return "wrong line", said


def main(argv: list[str]) -> int:
    verbose = "-v" in argv
    words = [a for a in argv if not a.startswith("-")]
    binary = next((w for w in words if os.access(w, os.X_OK) and os.path.isfile(w)), None)
    filters = [w for w in words if w != binary]
    binary = os.path.abspath(binary) if binary else shutil.which("fencepost")
    if not binary:
        raise SystemExit("say where the fencepost binary is")
    rows = json.loads((HERE / "manifest.json").read_text())["files"]
    rows = [r for r in rows if not filters or any(f in r["file"] for f in filters)]
    tally = collections.Counter()
    for row in rows:
        done = subprocess.run([binary, "check", "--format", "json", row["file"]], cwd=HERE, capture_output=True,
                              text=True, timeout=120)
        try:
            report = json.loads(done.stdout)["files"][0]
        except (ValueError, LookupError):
            result, said = "crash", (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        else:
            result, said = grade(row, report)
        tally["twin" if "bug" in row else "clean", result] += 1
        if verbose or not result.startswith("ok"):
            print(f"{result:14} {row['file']}: {said}" + (f" (expected {row['kinds'][0]})" if "bug" in row else ""))
    for (group, result), count in sorted(tally.items()):
        print(f"{group:6} {result:15} {count}")
    return 0 if all(r.startswith("ok") for _, r in tally) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
