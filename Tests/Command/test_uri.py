"""`waybridge uri`: RFC 3986 through the command, and its output for hostile input."""

import json
import subprocess
import unittest

from command import WAYBRIDGE, run, run_line_by_line

# RFC 3986 §5.4.1 and §5.4.2, the base being http://a/b/c/d;p?q.
RESOLVED = [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
]

# RFC 3986 §6: the normal form of a spelling by §6.2.2, and what §6.2.3 leaves to specific schemes.
NORMALIZED = [
    ("example://a/b/c/%7Bfoo%7D", "example://a/b/c/%7Bfoo%7D"),
    ("eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "example://a/b/c/%7Bfoo%7D"),
    ("HTTP://www.EXAMPLE.com/", "http://www.example.com/"), ("http://www.example.com/", "http://www.example.com/"),
    ("x:%3a", "x:%3A"), ("x:%7Esmith/%41%5a%61%7a%30%39%2D%2E%5F", "x:~smith/AZaz09-._"),
    ("HTTP://User:Pw@[::FFFF:1.2.3.4]:80/A", "http://User:Pw@[::ffff:1.2.3.4]:80/A"),
    ("http://h/?Q#F", "http://h/?Q#F"), ("http://h/a/./b/../../c/", "http://h/c/"),
    ("http://example.com", "http://example.com"), ("http://example.com/", "http://example.com/"),
    ("http://example.com:/", "http://example.com:/"), ("http://example.com:80/", "http://example.com:80/"),
    ("http://example.com/?", "http://example.com/?"), ("http://example.com/#", "http://example.com/#"),
]

PARTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")


def outputs(text, *arguments):
    """The outputs for lines on standard input, as values, and the exit code."""
    if isinstance(text, str):
        text = text.encode()
    done = subprocess.run([WAYBRIDGE, "uri", "--json", *arguments, "-"], input=text, capture_output=True, timeout=60)
    assert done.stderr == b"", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


class Standard(unittest.TestCase):
    def test_references_are_resolved_by_section_5_4(self):
        lines = "".join(reference + "\n" for reference, _ in RESOLVED)
        found, code = outputs(lines, "--base", "http://a/b/c/d;p?q")
        self.assertEqual(0, code)
        self.assertEqual(RESOLVED, [(each["uri"], each["resolved"]) for each in found])

    def test_uris_are_normalized_by_section_6_2_2(self):
        found, code = outputs("".join(uri + "\n" for uri, _ in NORMALIZED))
        self.assertEqual(0, code)
        self.assertEqual(NORMALIZED, [(each["uri"], each["normalized"]) for each in found])

    def test_parts_are_unchanged_and_absent_parts_null(self):
        rows = {
            "foo://user:pw@Example.com:8042/over/there?name=ferret#nose":
                ("foo", "user:pw@Example.com:8042", "user:pw", "Example.com", 8042, "/over/there", "name=ferret", "nose"),
            "urn:example:a": ("urn", None, None, None, None, "example:a", None, None),
            "ldap://[2001:db8::7]/c?": ("ldap", "[2001:db8::7]", None, "[2001:db8::7]", None, "/c", "", None),
            "x://h:": ("x", "h:", None, "h", None, "", None, None),
            "": (None, None, None, None, None, "", None, None),
        }  # fmt: skip
        found, code = outputs("".join(uri + "\n" for uri in rows))
        self.assertEqual(0, code)
        for (uri, parts), each in zip(rows.items(), found, strict=True):
            self.assertEqual(
                {"uri": uri, "valid": True, **dict(zip(PARTS, parts)), "normalized": each["normalized"]}, each
            )

    def test_invalid_uri_has_only_a_reason(self):
        uris = ["x:/ä", "http://h:x/", "x:/%4", "1a:b", "a b", "x://[::g]/", "x:#a#b"]
        found, code = outputs("".join(uri + "\n" for uri in uris))
        self.assertEqual(0, code)
        self.assertEqual([(uri, False) for uri in uris], [(each["uri"], each["valid"]) for each in found])
        for each in found:
            self.assertEqual({"uri", "valid", "reason"}, set(each))
            self.assertGreater(len(each["reason"]), 10)

    def test_resolved_uri_that_is_too_long(self):
        long = "a" * 40_000
        (found,), code = outputs(long + "\n", "--base", f"x:/{long}/")
        self.assertEqual((0, True, None), (code, found["valid"], found["resolved"]))
        self.assertIn("65536", found["reason"])


class Lines(unittest.TestCase):
    def test_lines_end_with_lf_crlf_or_end_of_input(self):
        for text, uris in [
            ("a\r\nb\nc", ["a", "b", "c"]), ("a\n", ["a"]), ("", []), ("\n\r\n", ["", ""]), ("\na", ["", "a"]),
            ("a\rb\n", ["a\rb"]), ("a\r\r\n", ["a\r"]),
        ]:  # fmt: skip
            self.assertEqual(uris, [each["uri"] for each in outputs(text)[0]], repr(text))

    def test_invalid_and_long_lines_each_have_a_result(self):
        lines = [b"x:/\0", b"x:/\xff\xfe", b"\xc3", b"x:/" + b"a" * (1 << 20), b"x:" + b"\x80" * 70_000, b"x:/end"]
        found, code = outputs(b"\n".join(lines))
        self.assertEqual([False, False, False, False, False, True], [each["valid"] for each in found])
        self.assertEqual(0, code)
        self.assertIn("0x0", found[0]["reason"])
        self.assertIn("byte 3", found[1]["reason"])
        self.assertIn("65536 bytes", found[3]["reason"])
        self.assertEqual(lines[3].decode(), found[3]["uri"])

    def test_line_above_2_mib_is_truncated(self):
        found, _ = outputs(b"a" * (5 << 20) + b"\nx:/end\n")
        self.assertEqual([2 << 20, 6], [len(each["uri"]) for each in found])
        self.assertEqual([False, True], [each["valid"] for each in found])

    def test_each_line_is_processed_immediately(self):
        uris = ["a:b", "", "c"]
        found = run_line_by_line(uris, "uri", "--json", "-")
        self.assertEqual(uris, [json.loads(line)["uri"] for line in found])

    def test_many_lines_are_processed_in_order(self):
        uris = [f"native://user/{number}?a=%41#b" for number in range(100_000)]
        found, code = outputs("\n".join(uris))
        self.assertEqual((0, uris), (code, [each["uri"] for each in found]))

    def test_closed_output_ends_the_command(self):
        script = 'yes a | "$1" uri - | head -1; echo "${PIPESTATUS[1]}"'
        done = subprocess.run(["bash", "-c", script, "bash", WAYBRIDGE], capture_output=True, text=True, timeout=30)
        self.assertEqual(("a\n141\n", ""), (done.stdout, done.stderr))

    def test_standard_input_can_be_among_uris(self):
        done = subprocess.run(
            [WAYBRIDGE, "uri", "--json", "a", "-", "./-"], input="b\n", capture_output=True, text=True, timeout=30
        )
        self.assertEqual(["a", "b", "./-"], [json.loads(line)["uri"] for line in done.stdout.splitlines()])


class Text(unittest.TestCase):
    def test_text_is_one_paragraph_per_uri(self):
        self.assertEqual(
            (
                0,
                "x://H:1/../a?\n  scheme      x\n  authority   H:1\n  host        H\n  port        1\n  path        /../a\n"
                "  query       \n  normalized  x://h:1/a?\n  resolved    x://H:1/a?\n"
                "\n(empty)\n  path        \n  normalized  \n  resolved    y:/\n",
                "",
            ),
            run("uri", "--base", "y:/#f", "x://H:1/../a?", ""),
        )

    def test_invalid_uris_are_reported_on_standard_error(self):
        code, output, errors = run("uri", "a b", "x:", "c\n")
        self.assertEqual(1, code)
        self.assertTrue(output.startswith("x:\n"), output)
        self.assertEqual(2, len(errors.splitlines()), errors)
        self.assertIn('"a b" is not a URI: ', errors)
        self.assertIn(r'"c\n" is not a URI: ', errors)


class ArgumentErrors(unittest.TestCase):
    def test_invalid_base_or_missing_uri_is_rejected(self):
        for arguments, text in [
            (["--base", "a", "b"], "no scheme"), (["--base", "x:/ ", "b"], "--base"), ([], "standard input"),
        ]:  # fmt: skip
            code, output, errors = run("uri", *arguments)
            self.assertEqual((64, ""), (code, output), arguments)
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
