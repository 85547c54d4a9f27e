"""The layout in Firefox."""

import unittest

import test_layout
from firefox import Firefox


class PhoneLightTest(test_layout.PhoneLightTest):
    browser = Firefox


class PhoneDarkTest(test_layout.PhoneDarkTest):
    browser = Firefox


class DeskLightTest(test_layout.DeskLightTest):
    browser = Firefox


class DeskDarkTest(test_layout.DeskDarkTest):
    browser = Firefox


class MotionTest(test_layout.MotionTest):
    browser = Firefox


class CalmTest(test_layout.CalmTest):
    browser = Firefox


class BetweenTest(test_layout.BetweenTest):
    browser = Firefox


if __name__ == "__main__":
    unittest.main()
