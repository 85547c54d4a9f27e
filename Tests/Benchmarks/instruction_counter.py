"""Counts the instructions of one kind of calls."""

import pathlib

import callgrind
import counts
import kinds

# How often disturbed counts are repeated at most.
MAX_REPEATS = 5


def count(command, kind, folder, times, *options):
    """The instructions per call of a kind, on a server with these options. Counts more often while other work disturbs it."""
    policy = pathlib.Path(folder, "policy.json")
    policy.write_text(kinds.policy())
    with callgrind.CountedServer(command, folder, *options, *(["--policy", str(policy)] if kind.policy else [])) as server:
        load = kind(server.port)
        for _ in range(3):
            load.round()
        server.settle()
        server.count(True)
        # The first round includes one-time costs.
        load.round()
        server.counted()
        found = []
        while len(found) < times or counts.is_disturbed(found) and len(found) < times * MAX_REPEATS:
            for _ in range(kind.rounds):
                load.round()
            found.append(server.counted() / (kind.rounds * kind.calls))
    return counts.Count.of(found)
