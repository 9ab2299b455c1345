"""What a load needs, from figures that were measured: `python3 capacity.py [NAME=VALUE ...]`."""

import math
import sys

# Each may be given as NAME=VALUE.
FIGURES = {
    # The load.
    "calls": 100_000,  # a second
    "reads": 0.70,  # the part of them that changes nothing; the others are effects
    "keyed": 0.50,  # the part of the effects that has an idempotency key
    "kilobytes": 10,  # of a call, with its answer, on both sides of the server
    # Measured: processor time, in microseconds.
    "call": 65,  # a call over HTTP, with the record of a read
    "tls": 10,  # encryption of a call
    "effect": 40,  # what an effect takes beyond that
    "row": 55,  # what the database takes for a row of a group
    # Measured: what the database writes, in bytes.
    "row_bytes": 240,  # a call at rest, with its indexes
    "log_read": 500,  # the log of the database, for each read
    "log_effect": 1_000,  # the same for the two rows of an effect
    "log_key": 800,  # the same for the two rows of a key
    # Chosen: how full things may be, and how large.
    "busy": 0.35,  # of the cores of servers
    "database_busy": 0.25,  # of the cores of a database
    "cell": 5_000,  # calls a second of one database and its servers
    "spare": 1.25,  # cells beyond what the load needs
    "replica_cores": 3,
}


def figures(words):
    found = dict(FIGURES)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in found:
            sys.exit(f"`{word}` must be NAME=VALUE, with one of: {', '.join(FIGURES)}")
        try:
            found[name] = float(value)
        except ValueError:
            sys.exit(f"`{word}`: `{value}` is no number")
        if not 0 <= found[name] < 1e12:
            sys.exit(f"`{word}`: the value must be from 0 to 1e12")
    for name in ("busy", "database_busy", "cell", "replica_cores"):
        if found[name] == 0:
            sys.exit(f"`{name}` must be more than 0")
    return found


def much(value):
    """With two digits at the least, and no point behind a large number."""
    digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{value:,.{digits}f}"


def rows(given):
    """The rows of the table: what it is, and how much."""
    calls, reads = given["calls"], given["calls"] * given["reads"]
    effects = calls - reads
    # Planned and ended, and for a key begun and settled.
    of_effects = effects * (2 + 2 * given["keyed"])
    ours = (reads * given["call"] + effects * (given["call"] + given["effect"])) / 1e6
    ours += calls * given["tls"] / 1e6
    database, for_reads = of_effects * given["row"] / 1e6, reads * given["row"] / 1e6
    logged = effects * (given["log_effect"] + given["keyed"] * given["log_key"]) / 1e6
    day = 86_400 * given["row_bytes"] / 1e12
    cells = math.ceil(calls / given["cell"] * given["spare"])
    # A load that is smaller than a cell has one of its own size.
    a_cell = min(given["cell"] / calls, 1) if calls else 0
    servers = ours * a_cell / given["busy"] / given["replica_cores"]
    logs = [effects * (given["log_effect"] + given["keyed"] * given["log_key"]) / 1e6]
    logs.append(reads * given["log_read"] / 1e6)
    yield "effects a second", f"{effects:,.0f}"
    yield "cores of servers that work", much(ours)
    yield "cores of servers to have", much(ours / given["busy"])
    yield "rows of effects that the database writes a second", f"{of_effects:,.0f}"
    yield "cores of databases that work for effects", much(database)
    yield "cores of databases that work for reads, if it keeps them", much(for_reads)
    yield "log of databases, for effects and for reads", " and ".join(map(much, logs)) + " MB/s"
    yield "disk for a day of effects", much(effects * day) + " TB"
    yield "disk for a day of reads, if they are kept", much(reads * day) + " TB"
    yield "network", much(calls * given["kilobytes"] / 1e6) + " GB/s"
    yield "cells", f"{cells}"
    yield "in a cell: servers that the load needs", much(servers)
    yield "in a cell: servers to have, with two to spare", f"{math.ceil(servers) + 2}"
    yield "in a cell: cores of the database, for effects", (
        much(database * a_cell / given["database_busy"])
    )


def main(words):
    given = figures(words)
    print("| What | How much |\n|---|---|")
    for what, amount in rows(given):
        print(f"| {what} | {amount} |")


main(sys.argv[1:])
