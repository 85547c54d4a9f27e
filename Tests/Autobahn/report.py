"""Writes the specification for Autobahn|Testsuite, and judges its results.

    report.py specify REPORTS URL CASE…
    report.py judge REPORTS
"""

import json
import pathlib
import sys

AGENT = "waybridge"

# Behaviour of libwebsockets 4.1.6 itself, below any callback: case -> (behavior, behaviorClose), reason.
LWS_PING = "lws keeps one ping at a time to answer, and drops those that come before its pong is sent (RFC 6455 §5.5.3 allows one pong for several)"
LWS_CLOSE = "after a frame against the rules lws sends 1002, then reads no close frame, and ends the TCP connection only after its time-out"
ALLOWED = {
    "2.10": (("FAILED", "OK"), LWS_PING),
    "2.11": (("FAILED", "OK"), LWS_PING),
    **{f"3.{case}": (("OK", "FAILED BY CLIENT"), LWS_CLOSE) for case in (1, 2, 3, 4, 5, 6, 7)},
}


def specify(reports, url, *cases):
    """Writes the suite's specification, which it reads from a file."""
    servers = [{"agent": AGENT, "url": url}]
    print(json.dumps({"outdir": reports, "servers": servers, "cases": cases, "exclude-cases": [], "exclude-agent-cases": {}}))


def judge(reports):
    """Prints each failed case; the exit code is 1 if one of them is not allowed to fail."""
    results = json.loads(pathlib.Path(reports, "index.json").read_text()).get(AGENT, {})
    failed = 0
    for case, result in sorted(results.items(), key=lambda item: [int(part) for part in item[0].split(".")]):
        found = (result["behavior"], result["behaviorClose"])
        # Both are allowed for servers: NON-STRICT detects invalid UTF-8 at the end of a message, INFORMATIONAL has no right result.
        if {*found} <= {"OK", "NON-STRICT", "INFORMATIONAL"}:
            continue
        allowed, reason = ALLOWED.get(case, (None, "see " + str(pathlib.Path(reports, result["reportfile"]))))
        if found != allowed:
            failed += 1
        print(f"{'allowed' if found == allowed else 'FAILED'} {case}: {', '.join(found)}: {reason}")
    print(f"{len(results) - failed} cases passed, {failed} cases failed")
    return 1 if failed or not results else 0


COMMANDS = {"specify": specify, "judge": judge}
if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
    sys.exit(__doc__)
sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
