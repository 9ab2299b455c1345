"""Plays the gold calls of BFCL's multi-turn tasks through an agent of `toolcrib serve`, and
compares every result and every state with those of the calls alone.

    PYTHONPATH=FOLDER-OF-BFCL python -B crates/dev/load/gold --server=PATH [--tasks=N] [--delay=MS]
        [--json]

A task has the instances of the classes for itself: the tasks are played one after the other, and
both sides begin each with new ones. What reads and what writes is told to the server by the hints
of MCP, so that it can run readers at once; the benchmark runs everything in the order of the data.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from pathlib import Path

from classes import reads
from tally import Tally, told
from tasks import Call, Direct, Task, Turn, documents, read_tasks, same_state
from ways import Stage, bare, crib

# How the calls of a turn come: one in each reply, or all in one.
STEPS = {
    "one by one": lambda calls: [[call] for call in calls],
    "at once": lambda calls: [calls] if calls else [],
}
# How long each of so many independent calls takes, in milliseconds, and how often that is asked.
DELAYS, INDEPENDENT, TIMES = (0, 20, 50, 200), 8, 5


async def play(way, steps, tally, stage, tasks):
    for task in tasks:
        direct = Direct(task, "direct")
        stage.world.begin(task)
        way.begin()
        tally.counts["tasks"] += 1
        for number, turn in enumerate(task.turns):
            calls = [call for call in turn.calls if call.fits or not way.refuses]
            start = time.perf_counter()
            results, instances = direct.run(calls)
            tally.direct_seconds += time.perf_counter() - start
            results = iter(results)
            wanted = [next(results) if call in calls else None for call in turn.calls]
            stage.begin_turn(steps(turn.calls), number)
            start = time.perf_counter()
            played = await way.play(task, turn)
            tally.seconds += time.perf_counter() - start
            tally.compare(stage, task, number, played, wanted, instances)
        direct.forget()


def check_readers(tasks):
    """What is listed as reading must change nothing: without these calls each state is the same."""
    for task in tasks:
        whole, writing = Direct(task, "whole"), Direct(task, "writing")
        for number, turn in enumerate(task.turns):
            _, one = whole.run(turn.calls)
            writers = [call for call in turn.calls if not reads(call.owner, call.name)]
            _, other = writing.run(writers)
            if not same_state(one, other):
                raise SystemExit(f"{task.id}, turn {number}: what is listed as reading changes")
        whole.forget()
        writing.forget()


def peak_mib(process):
    status = Path(f"/proc/{process}/status")
    if process is None or not status.exists():
        return 0.0
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


async def gold(docs, tasks, arguments):
    """The figures of both ways, each with the calls of a turn one by one and at once."""
    figures = []
    for name, steps in STEPS.items():
        for kind in ("bare loop", "toolcrib"):
            async with Stage(docs, arguments.delay / 1000).open() as stage:
                opened = bare(stage) if kind == "bare loop" else crib(stage, arguments.server)
                async with opened as (way, process):
                    tally = Tally(f"{kind}, {name}")
                    print(f"{tally.way} ..", file=sys.stderr)
                    await play(way, steps, tally, stage, tasks)
                    tally.peak_mib = peak_mib(process)
                    figures.append(tally.figures() | {"sound": tally.sound()})
    return figures


async def independent(docs, server):
    """What it saves to run calls at once that have nothing to do with each other."""
    calls = [Call(f"add(a={n}, b={n})", "MathAPI", "add", {"a": n, "b": n}) for n in range(INDEPENDENT)]
    task = Task("independent", ["MathAPI"], {}, [Turn("Add.", calls, frozenset())])
    rows = []
    for delay in DELAYS:
        async with Stage(docs, delay / 1000).open() as stage, crib(stage, server) as (way, _):
            middle = {}
            for name, steps in STEPS.items():
                seconds = []
                for _ in range(TIMES):
                    tally = Tally(name)
                    await play(way, steps, tally, stage, [task])
                    seconds.append(tally.seconds)
                middle[name] = statistics.median(seconds) * 1000
            one, once = middle["one by one"], middle["at once"]
            row = {"delay_ms": delay, "one_by_one_ms": round(one, 1), "at_once_ms": round(once, 1)}
            rows.append(row | {"speed_up": round(one / once, 1)})
    return rows


def main():
    parser = argparse.ArgumentParser(prog="gold")
    parser.add_argument("--server", required=True, help="the program `toolcrib`")
    parser.add_argument("--tasks", type=int, help="so many of the 800, evenly")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds that each call takes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    docs = documents()
    tasks = list(read_tasks(docs))
    if arguments.tasks:
        tasks = tasks[:: max(1, len(tasks) // arguments.tasks)][: arguments.tasks]
    check_readers(tasks)
    figures = asyncio.run(gold(docs, tasks, arguments))
    saved = asyncio.run(independent(docs, arguments.server))
    if arguments.json:
        print(json.dumps({"gold": figures, "independent": saved}, indent=2))
    else:
        print(*told(figures, saved), sep="\n")
    return 0 if all(row["sound"] for row in figures) else 1


sys.exit(main())
