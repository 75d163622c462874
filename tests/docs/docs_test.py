#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of README.md and docs/*.md on sample data and compares what the page shows.

    docs_test.py SOURCE BUILD [--write] [PAGE...]

A block ```console holds `$ command` lines, each with its output; `...` stands for any lines. `--write` replaces the
outputs by those of this build: as many lines as the page shows before its `...`. A block ```sh holds commands alone.
Each page begins in a folder with the same files (make_samples). Commands that measure get --dry-run, and those of
`elsewhere` need hosts, root or a GPU: their scripts are checked for syntax, their programs for the options.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SAMPLES = SOURCE / "reports/samples"
# What stands in for the real command, which the tests of these rooms run.
ELSEWHERE = {
    "scripts/run": "bash -n scripts/run",
    "scripts/test": "bash -n scripts/test",
    "scripts/package": "bash -n scripts/package",
    "scripts/sweep": "bash -n scripts/sweep",
    "sbatch": "bash -n scripts/sweep scripts/slurm/*.sbatch",
    "bin/gpu-check": f"{BUILD}/tests/gpu_check --help",
    "cmake": "cmake --version",
    "cp -r": "true",
    "kubectl": "true",
    "watch": "true",
}
# Options were understood, and the machine of the test has no such part.
LACKING = re.compile("no driver reports a device|cannot run together|unknown host|needs a Slurm allocation")

OFFERS = """provider,instance,tariff,price,currency,date,source,vcpus
aws,c7a.large,on_demand,0.103,USD,2026-11-24,invented,2
aws,c7i.xlarge,on_demand,0.179,USD,2026-11-24,invented,4
aws,c8g.2xlarge,on_demand,0.319,USD,2026-11-24,invented,8
azure,Standard_F4ams_v6,on_demand,0.252,USD,2026-11-24,invented,4
gcp,c3d-standard-4,on_demand,0.182,USD,2026-11-24,invented,4
"""
GPU_OFFERS = """provider,instance,tariff,price,currency,date,source
lambda,gpu_1x_h100_sxm5,on_demand,2.99,USD,2026-11-24,invented
"""


def prefix_of(command):
    return next((key for key in ELSEWHERE if command.startswith(key)), None)


def make_samples(folder):
    """results: 160 generated runs of five instance types; sweep-results: 60 generated nodes; models: a run of
    whole models; real runs beside them."""
    generate = BUILD / "tests/generate_runs"
    subprocess.run([generate, "results", "40"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([generate, "sweep-results", "--fleet", "60"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([generate, "models", "--models"], cwd=folder, check=True)
    for name, file in {
        "host.json": SAMPLES / "zen4-2cores-quick.json",
        "h100.json": SAMPLES / "h100-80gb-device.json",
        "h200.json": SOURCE / "tests/decisions/real/h200-acceptance.json",
        "epyc.json": SAMPLES / "procurement/epyc-2cores-quick.json",
    }.items():
        shutil.copy(file, folder / name)
    (folder / "offers.csv").write_text(OFFERS)
    (folder / "gpu-offers.csv").write_text(GPU_OFFERS)
    (folder / "nodes.txt").write_text("".join(f"n{i:05}\n" for i in range(61)))
    (folder / "hosts").write_text("node1 slots=1\nnode2 slots=1\n")
    (folder / "switches").write_text("node1,node2 switch=leaf1\n")
    (folder / "scripts").symlink_to(SOURCE / "scripts")


def run(command, folder):
    if prefix := prefix_of(command):
        command = ELSEWHERE[prefix]
    elif re.match(r"assay run\b", command) and "--help" not in command:
        command += " --dry-run"
    environment = os.environ | {
        "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
        "COLUMNS": "96",
        "NO_COLOR": "1",
        "HOME": str(folder),
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]


def matches(shown, lines):
    """`...` as a line stands for any number of lines, at the end of a line for its rest."""
    if not shown:
        return not lines
    if shown[0] == "...":
        return any(matches(shown[1:], lines[i:]) for i in range(len(lines) + 1))
    if not lines:
        return False
    same = lines[0].startswith(shown[0][:-3]) if shown[0].endswith("...") else lines[0] == shown[0]
    return same and matches(shown[1:], lines[1:])


def again(shown, lines):
    """The same part of the output as it is now; `...9` asks for nine lines."""
    last = next((i for i, line in enumerate(shown) if re.fullmatch(r"\.\.\.\d*", line)), None)
    if last is None:
        return lines
    count = int(shown[last][3:] or last)
    return lines if len(lines) <= count else lines[:count] + ["..."]


def commands_of(block):
    """(command, lines it takes in the page, output shown) of a block."""
    i = 0
    while i < len(block):
        start = i
        text = block[i].removeprefix("$ ")
        while text.endswith("\\"):
            i += 1
            text = text[:-1] + block[i]
        i += 1
        while "<<'END'" in text and not text.endswith("\nEND"):
            text += "\n" + block[i]
            i += 1
        shown = []
        while i < len(block) and not block[i].startswith("$ "):
            shown.append(block[i])
            i += 1
        yield text, block[start:i - len(shown)], shown


def check(page, samples, write):
    wrong = []
    count = 0
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "work"
        shutil.copytree(samples, folder, symlinks=True)

        def block(match):
            nonlocal count
            indent, kind = match[1], match[2]
            lines = [line.removeprefix(indent) for line in match[3].splitlines()]
            if kind == "sh":  # commands alone, each on its line
                items = [(line, [line], None) for line in lines]
            else:
                items = list(commands_of(lines))
            out = []
            for command, typed, shown in items:
                if not command.strip() or command.startswith("#"):
                    continue
                count += 1
                code, found = run(re.sub(r"\s{2,}#.*", "", command), folder)
                if code not in (0, 1, 3) and not LACKING.search("".join(found)):
                    wrong.append(f"{page.name}: {command}\n  ends with {code}: " + "\n  ".join(found[:20]))
                measured = command.startswith("assay run") or prefix_of(command)
                if shown and not measured:
                    if write and not matches(shown, found):
                        shown = again(shown, found)
                    elif not matches(shown, found):
                        wrong.append(f"{page.name}: {command}\n  shows something else:\n  " + "\n  ".join(found[:40]))
                out += typed + (shown or [])
            whole = ["```console", *out, "```"]
            return match[0] if kind == "sh" or not write else "\n".join(indent + line if line else "" for line in whole)

        new = re.sub(r"^( *)```(console|sh)\n(.*?)^ *```$", block, text, flags=re.S | re.M)
    if write and new != text:
        page.write_text(new, encoding="utf-8")
    if count == 0:
        wrong.append(f"{page.name}: no command was found")
    print(f"{page.name}: {count} commands, {len(wrong)} wrong")
    return wrong


def main():
    words = sys.argv[3:]
    names = [word for word in words if not word.startswith("--")]
    pages = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
    wrong = []
    for page, limit in [(pages[0], 100), *((page, 150) for page in pages[1:])]:
        if len(page.read_text(encoding="utf-8").splitlines()) > limit:
            wrong.append(f"{page.name}: more than {limit} lines")
    if len(pages[0].read_text(encoding="utf-8").split()) > 900:
        wrong.append("README.md: more than 900 words")
    linking = [*pages, SOURCE / "ARCHITECTURE.md", SOURCE / "CONTRIBUTING.md", SOURCE / "llms.txt"]
    for room in ("harness", "benchmarks", "reports", "configs", "tests", "scripts"):
        linking += [page for page in (SOURCE / room).rglob("*.md") if "node_modules" not in page.parts]
    for page in linking:
        for link in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                wrong.append(f"{page.relative_to(SOURCE)}: {link} is missing")
    with tempfile.TemporaryDirectory() as name:
        samples = pathlib.Path(name)
        make_samples(samples)
        for page in pages:
            if not names or page.name in names:
                wrong += check(page, samples, "--write" in words)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
