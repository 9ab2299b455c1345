"""What is counted while turns are played, and how it is told."""

import json
from collections import Counter
from dataclasses import dataclass, field

from tasks import same_state

# Faults that are told in words; the others are only counted.
TOLD = 20

# What may go wrong: no result, another result, run once more, other tools offered, another state,
# and something else shown to the client.
FAULTS = ("lost", "different", "again", "offers", "states", "shown")


# How a refusal begins.
REFUSED = "Error: the arguments do not fit"


def is_meant(wanted, got):
    return got.startswith(REFUSED) if wanted is None else got == wanted


@dataclass
class Tally:
    """Of one way to play the turns."""

    way: str
    counts: Counter = field(default_factory=Counter)
    seconds: float = 0.0
    direct_seconds: float = 0.0
    peak_mib: float = 0.0
    faults: list = field(default_factory=list)

    def fault(self, kind, where, said):
        self.counts[kind] += 1
        if len(self.faults) < TOLD:
            self.faults.append(f"{where}: {kind}: {said}"[:600])

    def compare(self, stage, task, number, played, wanted, instances):
        """`played` is what the client was shown of the turn; `wanted` are the results of the calls
        alone (`None`: to be refused), and `instances` their state."""
        turn, script = task.turns[number], stage.script
        where = f"{task.id}, turn {number}"
        self.counts["turns"] += 1
        self.counts["calls"] += len(turn.calls)
        offered = sorted(
            f"{owner}__{name}"
            for owner in task.classes
            for name in stage.docs[owner]
            if name not in turn.missing
        )
        if script.offered != offered:
            self.fault("offers", where, sorted(set(script.offered or []) ^ set(offered)))
        calls = list(zip(turn.calls, wanted, strict=True))
        self.counts["refused"] += wanted.count(None)
        running = [call for call, text in calls if text is not None]
        meant = Counter((call.name, json.dumps(call.arguments)) for call in running)
        ran = Counter(stage.world.ran)
        for call in (meant - ran).elements():
            self.fault("lost", where, f"did not run as written: {call}")
        for call in (ran - meant).elements():
            self.fault("again", where, f"ran beyond what was written: {call}")
        for place, (call, text) in enumerate(calls):
            got = script.results.get(script.id(place))
            if got is None:
                self.fault("lost", where, f"{call.code}: no result came")
            elif not is_meant(text, got):
                self.fault("different", where, f"{call.code}: {text!r} came as {got!r}")
        if len(played) != len(wanted) or not all(map(is_meant, wanted, played)):
            self.fault("shown", where, f"{played}")
        if not same_state(stage.world.instances, instances):
            self.fault("states", where, "the state differs")

    def sound(self):
        return not any(self.counts[kind] for kind in FAULTS)

    def figures(self):
        per_turn = 1000 / (self.counts["turns"] or 1)
        return {
            "way": self.way,
            **{kind: self.counts[kind] for kind in ("tasks", "turns", "calls", "refused", *FAULTS)},
            "ms_a_turn": round(self.seconds * per_turn, 2),
            "direct_ms_a_turn": round(self.direct_seconds * per_turn, 2),
            "peak_mib": round(self.peak_mib, 1),
            "faults": self.faults,
        }


def table(heads, rows):
    """As people read it: the first column to the left, numbers to the right."""
    cells = [[str(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
        yield "  ".join([row[0].ljust(widths[0]), *numbers])


def told(figures, independent):
    heads = ("way", "tasks", "turns", "calls", "refused", *FAULTS, "ms/turn", "alone", "MiB")
    keys = ("way", "tasks", "turns", "calls", "refused", *FAULTS, "ms_a_turn", "direct_ms_a_turn", "peak_mib")
    yield from table(heads, [[row[key] for key in keys] for row in figures])
    for row in figures:
        yield from (f"{row['way']}: {fault}" for fault in row["faults"])
    if independent:
        yield ""
        keys = ("delay_ms", "one_by_one_ms", "at_once_ms", "speed_up")
        heads = ("each call takes (ms)", "one by one (ms)", "at once (ms)", "speed-up")
        yield from table(heads, [[row[key] for key in keys] for row in independent])
