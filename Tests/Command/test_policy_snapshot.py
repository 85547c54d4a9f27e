"""The decisions of the demo's policy: all kinds of callers, with all methods, for all routes, as a stored table.

WAYBRIDGE=… /usr/bin/python3 Tests/Command/test_policy_snapshot.py --update    writes the table again, for a diff
"""

import difflib
import json
import re
import subprocess
import sys
import unittest

from command import ROOT, WAYBRIDGE, environment

TABLE = ROOT / "protocol/routes/demo.json"
POLICY = ROOT / "protocol/policies/demo.json"
SNAPSHOT = ROOT / "protocol/policies/demo.snapshot.txt"
UPDATE = "Tests/Command/test_policy_snapshot.py --update"

# The guest here is a page that a shell has invited with its own group. Further limits of its invitation
# do not belong to the policy.
CALLERS = [
    {},
    {"token": {"groups": ["shell"]}},
    {"token": {"groups": ["shell"]}, "origin": "https://shop.example"},
    {"token": {"sub": "anna", "groups": ["staff"]}},
    {"token": {"sub": "anna", "groups": ["staff"]}, "origin": "https://shop.example"},
    {"token": {"groups": ["shell", "staff"]}},
    {"token": {"groups": ["shell", "staff"]}, "origin": "null"},
    {"token": {"sub": "printd"}},
    {"token": {"sub": "printd"}, "origin": "https://shop.example"},
    {"token": {"sub": "printd", "groups": ["staff"]}},
    # Names of users and of groups are different.
    {"token": {"sub": "shell", "groups": ["printd"]}},
    {"token": {"sub": "someone", "groups": ["Shell", "staff "]}},
    *(
        {"origin": origin}
        for origin in (
            "https://shop.example", "https://shop.example:443", "HTTPS://Shop.Example", "https://www.shop.example",
            "https://bridge.shop.example", "https://a.www.shop.example", "http://shop.example", "http://www.shop.example",
            "https://shop.example:8443", "https://shop.example.", "https://shop.example.evil.example",
            "https://evilshop.example", "https://evil.example", "http://127.0.0.1:8080", "null",
        )
    ),
]  # fmt: skip

ABOUT_A_URI = [
    "router.open", "router.invoke", "router.canOpen", "router.explain", "router.deliver", "navigation.adopt",
    "navigation.selectTab", "page.call",
]  # fmt: skip
# In addition to one URI of each route and redirect of the table.
URIS = [
    # URIs that the policy's patterns cover, and URIs that they just do not cover.
    "native://plan", "native://plan/other", "native://plan/a/b", "https://shop.example", "https://shop.example/a?b=c",
    "https://help.shop.example/returns", "http://shop.example/a", "https://shop.example:8443/a", "https://elsewhere.example/",
    "https://shop.example.evil.example/a", "https://user@shop.example/a", "print://label", "print://label?size=a6",
    "print://label/2", "print://other",
    # One URI in another notation.
    "NATIVE://Home", "native://home/", "native://x/../handoff", "native://address/%6Cist", "tp://taxi?i=taxi%3A%2F%2Fcall",
    "native://%68andoff?app=a&uri=a:b", "Action://Logout", "HTTPS://Shop.Example:443/a",
    # Undeclared URIs.
    "native://nowhere", "nowhere:", "navigation:back", "navigation:selectTab?index=1",
]  # fmt: skip
TOPICS = ["cart.changed", "cart", "user.changed", "order.changed", "undeclared"]
ABOUT_A_TOPIC = ["events.publish", "event"]
# None is a host of every scheme.
SCHEMES = ["native", "flutter", "action", "print", "https", "tp", "other", None]


def uris():
    """One URI for each pattern of the table, and those above."""
    table = json.loads(TABLE.read_text())
    patterns = [pattern for route in table["routes"] for pattern in route.get("patterns", [route.get("pattern")])]
    patterns += [redirect["from"] for redirect in table["redirects"]]
    # With the optional parts, and once if two routes have the same pattern.
    filled = [re.sub(r":(?!/)\w+", "7", re.sub(r"[()]", "", pattern)) for pattern in patterns]
    return list(dict.fromkeys(filled)) + URIS


def calls():
    """Method, subject and properties of each call that a caller can make."""
    for method in [*(entry["name"] for entry in json.loads((ROOT / "protocol/openrpc.json").read_text())["methods"]), "event"]:
        if method in ABOUT_A_TOPIC:
            yield from ((method, topic, {"topic": topic}) for topic in TOPICS)
        elif method in ABOUT_A_URI:
            yield from ((method, uri, {"uri": uri}) for uri in uris())
        elif method == "host.register":
            for scheme in SCHEMES:
                for server in (False, True):
                    members = ({"scheme": scheme} if scheme else {}) | ({"server": True} if server else {})
                    yield method, (scheme, server), members
        else:
            yield method, None, {}


def verdicts():
    """The policy's decisions for all calls of all callers, caller by caller: {(method, subject): verdict}."""
    rows = list(calls())
    keys = [(method, subject) for method, subject, _ in rows]
    # More would be more bytes than the command accepts at once.
    for start in range(0, len(CALLERS), 5):
        # Only differences from the expectation are printed.
        cases = [
            caller | members | {"method": method, "expect": "default"}
            for caller in CALLERS[start : start + 5]
            for method, _, members in rows
        ]
        found = tested(cases)
        yield from (
            dict(zip(keys, found[first : first + len(rows)], strict=True)) for first in range(0, len(found), len(rows))
        )


def tested(cases):
    """The verdicts of cases that all expect `default`."""
    lines = "\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    done = subprocess.run(
        [WAYBRIDGE, "policy", "test", POLICY, "-", "--table", TABLE], input=lines, capture_output=True, text=True,
        timeout=60, env=environment({}),
    )  # fmt: skip
    *differences, last = done.stdout.splitlines() or [done.stderr]
    if last != f"{len(cases)} rows: {len(differences)} not as expected":
        raise AssertionError(f"the policy was not tested: {last}")
    found = ["default"] * len(cases)
    for line in differences:
        match = re.match(r'row (\d+): expected "default", got ("(?:[^"\\]|\\.)*") \(', line)
        found[int(match[1]) - 1] = json.loads(match[2])
    return found


def cells(found):
    """Verdicts next to each other, followed by the rules that deny."""
    signs = {"allow": "yes", "default": "-", "permissions": "perm"}
    denials = list(dict.fromkeys(verdict for _, verdict in found if verdict not in signs))
    if len(denials) > 1:
        denials = [f"{name}: {verdict}" for name, verdict in found if verdict not in signs]
    width = [max(len(name), 4) + 2 for name, _ in found]
    line = "".join(f"{signs.get(verdict, 'deny'):{size}}" for (_, verdict), size in zip(found, width, strict=True))
    return line + "; ".join(denials)


def section(decisions):
    """The lines about one caller."""
    short = [method.removeprefix("router.").removeprefix("navigation.") for method in ABOUT_A_URI]
    lines = [f"{'':42}" + "".join(f"{name:{max(len(name), 4) + 2}}" for name in short)]
    for uri in uris():
        lines.append(f"  {uri:40}" + cells([(name, decisions[method, uri]) for name, method in zip(short, ABOUT_A_URI)]))
    lines.append(f"{'':42}session  server")
    for scheme in SCHEMES:
        found = [(name, decisions["host.register", (scheme, name == "server")]) for name in ("session", "server")]
        lines.append(f"  {'host.register of ' + (scheme or 'every scheme'):40}" + cells(found))
    lines.append(f"{'':42}" + "".join(f"{method:{len(method) + 2}}" for method in ABOUT_A_TOPIC))
    for topic in TOPICS:
        found = [(method, decisions[method, topic]) for method in ABOUT_A_TOPIC]
        lines.append(f"  {'topic ' + topic:40}" + cells(found))
    lines.append("")
    lines += [f"  {method:40}" + cells([("", verdict)]) for (method, subject), verdict in decisions.items() if subject is None]
    return [line.rstrip() for line in lines]


def named(caller):
    token, origin = caller.get("token"), caller.get("origin")
    return ", ".join(
        ([f"token {json.dumps(token)}"] if token else []) + ([f"page of {origin}"] if origin else [])
    ) or "nobody in particular"  # fmt: skip


def table():
    """The complete table: callers with the same decisions share a section."""
    sections = {}
    for caller, decisions in zip(CALLERS, verdicts(), strict=True):
        sections.setdefault("\n".join(section(decisions)), []).append(named(caller))
    text = (
        "What protocol/policies/demo.json lets whom do with the routes of protocol/routes/demo.json.\n"
        f"Written by {UPDATE}; callers who have the same answers stand together.\n"
        '"yes" allows, "-" is refused since no rule allows it, "deny" by the rule at the end of the line, "perm" by the\n'
        "permissions of the route.\n"
    )
    for lines, callers in sections.items():
        # `git diff` of each change shows the affected caller in its hunk header.
        text += "\n" + "\n  and ".join(callers) + "\n" + lines + "\n"
    return text


class Snapshot(unittest.TestCase):
    def test_policy_decisions_match_snapshot(self):
        stored, current = SNAPSHOT.read_text(), table()
        if stored == current:
            return
        changes = difflib.unified_diff(
            stored.splitlines(), current.splitlines(), str(SNAPSHOT.relative_to(ROOT)), "now", lineterm="", n=1
        )
        differences = [self.with_caller(line, stored) if line.startswith("@@") else line for line in changes]
        self.fail(f"the policy says something else; where that is meant, run {UPDATE}\n" + "\n".join(differences))

    def with_caller(self, line, text):
        """The hunk header of a change, with the affected caller."""
        before = text.splitlines()[: int(re.match(r"@@ -(\d+)", line)[1])]
        return f"{line} {[head for head in before if head[:1].strip()][-1]}"

    def test_snapshot_covers_all_names_of_rules(self):
        def named(member):
            return {name for rule in json.loads(POLICY.read_text())["rules"] for name in rule.get(member, [])}

        tokens = [caller.get("token", {}) for caller in CALLERS]
        self.assertLessEqual(named("groups"), {group for token in tokens for group in token.get("groups", [])})
        self.assertLessEqual(named("subjects"), {token.get("sub") for token in tokens})
        self.assertLessEqual(named("schemes"), set(SCHEMES))
        for origin in named("origins"):
            one = re.compile(re.escape(origin).replace(r"\*", "[^.]+"))
            self.assertTrue(any(one.fullmatch(caller.get("origin", "")) for caller in CALLERS), origin)
        # Names are those of routes of the table. All patterns of these routes are here.
        for pattern in (name for name in named("routes") if ":" in name):
            self.assertTrue(any(uri.startswith(pattern.rstrip("*")) and uri != pattern for uri in uris()), pattern)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        SNAPSHOT.write_text(table())
    else:
        unittest.main()
