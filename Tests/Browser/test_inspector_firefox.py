"""The inspector in Firefox."""

import unittest

import test_inspector
from firefox import Firefox


class WatchingTest(test_inspector.WatchingTest):
    browser = Firefox


class AskingTest(test_inspector.AskingTest):
    browser = Firefox


class DoorTest(test_inspector.DoorTest):
    browser = Firefox


class DeskDarkTest(test_inspector.DeskDarkTest):
    browser = Firefox


class PhoneLightTest(test_inspector.PhoneLightTest):
    browser = Firefox


if __name__ == "__main__":
    unittest.main()
