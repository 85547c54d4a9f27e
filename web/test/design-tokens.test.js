// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** @param {string} path */
function colours(path) {
  return readFileSync(new URL(path, import.meta.url), "utf8").split("\n").filter((line) => /^\s*--/.test(line));
}

// A server contains the inspector with or without a demo, and the demo is served with or without an inspector, so each has its own file.
test("the demo and the inspector have the same colours and fonts", () => {
  const own = colours("../inspector/tokens.css");
  assert.equal(own.length > 20, true);
  assert.deepEqual(own, colours("../demo/styles/tokens.css"));
});

const TEXTS = ["ink", "muted", "danger", "native", "web", "flutter", "swift", "mini"];
/** Backgrounds on which text of every colour can stand: `native-tint` is that of a selected row. */
const BACKGROUNDS = ["ground", "surface", "raised", "native-tint"];

/**
 * @param {string[]} lines
 * @returns {Record<string, string>} hexadecimal colours by name
 */
function palette(lines) {
  return Object.fromEntries(lines.flatMap((line) => {
    const [, name, colour] = /--([a-z-]+): #([\da-f]{6});/.exec(line) ?? [];
    return name === undefined ? [] : [[name, colour]];
  }));
}

/** @param {string} colour */
function luminance(colour) {
  const [red, green, blue] = [0, 2, 4]
    .map((start) => Number.parseInt(colour.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The contrast of two colours (WCAG 2.2, 1.4.3).
 * @param {string} one
 * @param {string} other
 */
function contrast(one, other) {
  const [dark, bright] = [luminance(one), luminance(other)].sort((first, second) => first - second);
  return (bright + 0.05) / (dark + 0.05);
}

test("every colour of text is readable on every background, and on its own tint", () => {
  const lines = colours("../inspector/tokens.css");
  const dark = lines.map((line) => line.includes("--ground:")).lastIndexOf(true);
  for (const [theme, of] of Object.entries({ light: palette(lines.slice(0, dark)), dark: palette(lines.slice(dark)) })) {
    for (const text of TEXTS) {
      for (const background of [...BACKGROUNDS, `${text}-tint`].filter((each) => each in of)) {
        const found = contrast(of[text], of[background]);
        assert(found >= 4.5, `${theme}: ${text} on ${background} has a contrast of ${found.toFixed(2)}`);
      }
    }
  }
});
