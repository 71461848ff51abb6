#!/usr/bin/env python3
"""Runs simulators from public packages and `herdsim run` on the same plain polling, whole process each.

Every client sleeps 15-45 s (its first sleep: 0-30 s), then claims a backend for 170 ms on average,
exponential, and waits first come, first served if none is free. Each peer is written as its own
documentation shows and built with optimisation, from pinned versions, in a throwaway folder. Each
prints its polls and how many backends were active on average; a peer that is more than three per
cent off what theory says ends the script, so all that are compared have played the same model. The
peers take turns, so that a busy machine slows them all.

Figures are the CPU time (user and system) and wall time of the process, start-up included, medians
of the runs. An event is a client that wakes, a claim that starts or one that ends: three a poll.

    benches/peers/run.py [--clients N...] [--seconds S] [--runs K] [--only TEXT] [--out FILE]
"""

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

CLIENTS, BACKENDS = 11_543, 368
SLEEP_S, SERVICE_S = 30.0, 0.170
TOLERANCE = 0.03

COLUMNS = [
    "peer", "version", "toolchain", "command", "clients", "backends", "seconds", "polls", "events",
    "mean_active", "cpu_seconds_median", "cpu_seconds_min", "cpu_seconds_max", "wall_seconds_median",
    "runs", "ns_per_poll", "ns_per_event", "ratio_to_herdsim", "machine", "note",
]  # fmt: skip

# Peer, the crate whose version counts, and a remark.
RUST = [
    ("binary_heap", None, "std BinaryHeap by hand; counts polls and busy time only"),
    ("desque", "desque", "an event type each for waking and being done"),
    ("simrs", "simrs", "one component"),
    ("nexosim_one_model", "nexosim", "the fleet is one model, one thread"),
    ("nexosim_model_per_client", "nexosim", "a model per client and one for the pool, one thread"),
]
PYTHON = [
    ("heap_script", None, "heapq by hand; counts polls and busy time only"),
    ("simpy_processes", "simpy", "a process per client, a Resource for the pool"),
]


@dataclass
class Peer:
    """A program to run, as a command that still lacks its arguments."""

    name: str
    version: str
    toolchain: str
    note: str
    program: list[str] = field(default_factory=list)


@dataclass
class Run:
    """What one process did and took."""

    polls: int
    mean_active: float
    cpu_s: float
    wall_s: float


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
        peers = [
            peer
            for peer in install(Path(scratch), options.only)
            if peer.name == "herdsim" or options.only in peer.name
        ]
        rows = []
        for clients in options.clients:
            rows += compare(peers, clients, options, Path(scratch))
    options.out.parent.mkdir(exist_ok=True)
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print_table(rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, nargs="+", default=[CLIENTS])
    parser.add_argument("--seconds", type=int, default=600, help="simulated; 300 or more")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--out", type=Path, default=ROOT / "benches/results/peers.csv")
    options = parser.parse_args()
    if options.seconds < 300:
        parser.error("--seconds: below 300 chance alone may be off by more than the tolerance")
    return options


# Installing: a peer that cannot be had stays in the list, with why and without a program.


def install(scratch: Path, only: str) -> list[Peer]:
    return [herdsim(), *rust_peers(scratch, only), *python_peers(scratch, only)]


def herdsim() -> Peer:
    quiet("cargo", "build", "--release", "--locked", folder=ROOT)
    metadata = said("cargo", "metadata", "--no-deps", "--format-version", "1", folder=ROOT)
    target = Path(json.loads(metadata)["target_directory"])
    version = said("git", "describe", "--always", "--dirty", folder=ROOT)
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    note = "all metrics, and writes its tables"
    program = [str(target / "release/herdsim")]
    return Peer("herdsim", f"{package['version']} {version}", rustc(), note, program)


def rust_peers(scratch: Path, only: str) -> list[Peer]:
    package = HERE / "rust"
    target = scratch / "rust"
    lock = tomllib.loads((package / "Cargo.lock").read_text())
    versions = {entry["name"]: entry["version"] for entry in lock["package"]}
    peers = []
    for name, crate, note in RUST:
        if only not in name:
            continue
        peer = Peer(name, f"{crate} {versions[crate]}" if crate else "", rustc(), note)
        try:
            build = ("cargo", "build", "--release", "--locked", "--bin", name)
            quiet(*build, "--target-dir", target, folder=package)
            peer.program = [str(target / "release" / name)]
        except subprocess.CalledProcessError as error:
            peer.note = f"does not build: {error}"
        peers.append(peer)
    return peers


def python_peers(scratch: Path, only: str) -> list[Peer]:
    scripts = [script for script in PYTHON if only in script[0]]
    if not scripts:
        return []
    python = scratch / "venv/bin/python"
    quiet(sys.executable, "-m", "venv", scratch / "venv")
    toolchain = f"{platform.python_implementation()} {platform.python_version()}"
    requirements = HERE / "python/requirements.txt"
    pins = dict(line.split("==") for line in requirements.read_text().split())
    peers = []
    for name, package, note in scripts:
        peer = Peer(name, f"{package} {pins[package]}" if package else "", toolchain, note)
        try:
            if package:
                quiet(python, "-m", "pip", "install", "--quiet", "-r", requirements)
            peer.program = [str(python), str(HERE / f"python/{name}.py")]
        except subprocess.CalledProcessError as error:
            peer.note = f"cannot be installed: {error}"
        peers.append(peer)
    return peers


def quiet(*command: object, folder: Path = HERE) -> None:
    print("*", *(Path(str(part)).name for part in command), file=sys.stderr)
    subprocess.run([str(part) for part in command], cwd=folder, check=True, stdout=sys.stderr)


def said(*command: str, folder: Path = HERE) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def rustc() -> str:
    return " ".join(said("rustc", "--version", folder=ROOT).split()[:2])


# Running.


def compare(peers: list[Peer], clients: int, options: argparse.Namespace, scratch: Path) -> list[dict]:
    """A row for each peer; the first is herdsim's."""
    backends = -(-clients * BACKENDS // CLIENTS)
    fleet = (clients, backends, options.seconds)
    machine = describe_machine()
    runs: dict[str, list[Run]] = {peer.name: [] for peer in peers}
    for turn in range(options.runs):
        for peer in peers:
            if peer.program:
                print(f"* {clients} clients, turn {turn + 1}: {peer.name}", file=sys.stderr)
                result = run(command(peer, fleet, scratch), peer.name)
                check(peer, result, fleet)
                runs[peer.name].append(result)
    rows = []
    for peer in peers:
        row = dict.fromkeys(COLUMNS, "")
        row |= {"peer": peer.name, "version": peer.version, "toolchain": peer.toolchain}
        row |= {"clients": clients, "backends": backends, "seconds": options.seconds}
        row |= {"machine": machine, "note": peer.note, "runs": len(runs[peer.name])}
        if peer.program:
            row["command"] = shown(command(peer, fleet, scratch))
            row |= figures(runs[peer.name], runs["herdsim"])
        rows.append(row)
    return rows


def command(peer: Peer, fleet: tuple[int, int, int], scratch: Path) -> list[str]:
    clients, backends, seconds = fleet
    if peer.name != "herdsim":
        return [*peer.program, *map(str, fleet)]
    return [
        *peer.program, "run", str(HERE / "polling.toml"), "--jobs", "1",
        "--set", f"fleet.clients={clients}", "--set", f"pooler.pool_size={backends}",
        "--set", f"run.duration={seconds}s",
        "--no-report", "--quiet", "--force", "--format", "csv", "--out", str(scratch / "out"),
    ]  # fmt: skip


def shown(command: list[str]) -> str:
    """A command without the folders of this machine."""
    return " ".join(Path(part).name if part.startswith("/") else part for part in command)


def run(command: list[str], name: str) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{name}: exit code {process.returncode}")
    if name == "herdsim":
        estimates = {row["metric"]: row["estimate"] for row in csv.DictReader(output.splitlines())}
        polls, mean_active = estimates["polls"], estimates["sv_active_mean"]
    else:
        polls, mean_active = output.split()
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(int(polls), float(mean_active), cpu_s, wall_s)


def check(peer: Peer, run: Run, fleet: tuple[int, int, int]) -> None:
    """Against the renewal rate and Little's law; the pool is far from full."""
    clients, _, seconds = fleet
    per_second = clients / (SLEEP_S + SERVICE_S)
    for what, got, expected in [
        ("polls", run.polls, per_second * seconds),
        ("mean active backends", run.mean_active, per_second * SERVICE_S),
    ]:
        if abs(got / expected - 1) > TOLERANCE:
            sys.exit(f"{peer.name}: {got:.6g} {what}, theory says {expected:.6g}")


def figures(runs: list[Run], herdsim: list[Run]) -> dict:
    cpu = [run.cpu_s for run in runs]
    median_s = statistics.median(cpu)
    polls = runs[0].polls
    return {
        "polls": polls,
        "events": 3 * polls,
        "mean_active": f"{runs[0].mean_active:.3f}",
        "cpu_seconds_median": f"{median_s:.4f}",
        "cpu_seconds_min": f"{min(cpu):.4f}",
        "cpu_seconds_max": f"{max(cpu):.4f}",
        "wall_seconds_median": f"{statistics.median(run.wall_s for run in runs):.4f}",
        "ns_per_poll": f"{median_s / polls * 1e9:.1f}",
        "ns_per_event": f"{median_s / polls / 3 * 1e9:.1f}",
        "ratio_to_herdsim": f"{median_s / statistics.median(run.cpu_s for run in herdsim):.2f}",
    }


def describe_machine() -> str:
    """The processor and how busy it was before."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = (line.partition(":") for line in cpuinfo.read_text().splitlines())
        model = next((value.strip() for key, _, value in lines if key.strip() == "model name"), model)
    return f"{model}; {os.cpu_count()} processors; load {os.getloadavg()[0]:.1f} before"


def print_table(rows: list[dict]) -> None:
    shown = ["peer", "version", "clients", "mean_active", "cpu_seconds_median", "ns_per_poll"]
    shown.append("ratio_to_herdsim")
    print("| " + " | ".join(shown) + " |")
    print("|" + "---|" * len(shown))
    for row in rows:
        print("| " + " | ".join(str(row[column]) for column in shown) + " |")


if __name__ == "__main__":
    main()
