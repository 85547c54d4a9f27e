// @ts-check
import { failure } from "./errors.js";
import { decoded, isDot, split, withoutDots } from "./uri.js";

/**
 * A parameter takes any one segment that is not empty, `rest` all that are left.
 * @typedef {{literal: string} | {parameter: string} | {rest: true}} Segment
 */
/** @typedef {[string, string | string[]][]} Captures by name; those of a `*` are a list under `*` */

/** The most patterns that one text with optional groups may stand for. */
const MOST = 32;

/**
 * A route pattern, as far as it is needed where there is no server: to find what stands in for the app. `native://address/:id` is
 * matched part by part; a pattern that begins with `/` is matched against the path, with the authority before it where
 * that is no network address.
 */
export class Pattern {
  /**
   * @param {string} text without optional groups
   * @param {string} [whole] the text with them
   */
  constructor(text, whole = text) {
    this.text = whole;
    const parts = split(text);
    if ((parts.scheme === undefined && !text.startsWith("/")) || /[?#()]/.test(text)) throw wrong(text);
    if (parts.path.some((each) => isDot(decoded(each)))) throw wrong(text);
    /** @type {string | undefined} */
    this.scheme = parts.scheme;
    /** @type {Segment | undefined} */
    this.authority = parts.authority === undefined ? undefined : segment(parts.authority, true);
    /** @type {Segment[]} */
    this.path = parts.path.map((each, index) => (each === "*" && index === parts.path.length - 1 ? { rest: true } : segment(each)));
  }

  /**
   * All that a text stands for: `/a(/:b)` is `/a` and `/a/:b`.
   * @param {string} text
   * @returns {Pattern[]}
   */
  static all(text) {
    let texts = new Set([text]);
    for (let found = true; found; ) {
      found = false;
      /** @type {Set<string>} */
      const next = new Set();
      for (const each of texts) {
        // A group that has none within it.
        const [, before, group, after] = /^([^()]*(?:\([^()]*)*)\((\/[^()]*)\)(.*)$/s.exec(each) ?? [];
        if (before === undefined) next.add(each);
        else next.add(before + after).add(before + group + after);
        found ||= before !== undefined;
      }
      if (next.size > MOST) {
        throw failure("invalidParams", `the pattern ${clipped(text)} has more than ${MOST} forms; use fewer optional groups`);
      }
      texts = next;
    }
    return [...texts].map((each) => new Pattern(each, text));
  }

  /**
   * What the URI's segments are in this pattern, or undefined when it does not fit. Its dot segments are removed before.
   * @param {string} uri
   * @returns {Captures | undefined}
   */
  match(uri) {
    const parts = split(withoutDots(uri));
    if (parts.scheme === undefined) return undefined;
    /** @type {Captures} */
    const captures = [];
    let path = parts.path;
    if (this.scheme === undefined) {
      path = globalPath(parts);
    } else if (parts.scheme !== this.scheme || !fits(this.authority, parts.authority?.toLowerCase(), captures)) {
      return undefined;
    }
    const last = this.path.at(-1);
    const open = last !== undefined && "rest" in last;
    const fixed = open ? this.path.slice(0, -1) : this.path;
    if (open ? path.length < fixed.length : path.length !== fixed.length) return undefined;
    if (!fixed.every((each, index) => fits(each, path[index], captures))) return undefined;
    if (open) captures.push(["*", path.slice(fixed.length).map(decoded)]);
    return captures;
  }

  /**
   * Negative when this pattern is the more specific of two that fit one URI: literal, parameter, rest, from the left.
   * @param {Pattern} other
   */
  compare(other) {
    const [mine, theirs] = [this.#weights(), other.#weights()];
    for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1) {
      // Where one has ended, the other takes the rest, which may be empty.
      const difference = (mine[index] ?? 0) - (theirs[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return Number(this.scheme === undefined) - Number(other.scheme === undefined);
  }

  #weights() {
    const segments = this.authority === undefined ? this.path : [this.authority, ...this.path];
    return segments.map((each) => ("literal" in each ? 0 : "parameter" in each ? 1 : 2));
  }
}

/** @param {{scheme: string | undefined, authority: string | undefined, path: string[]}} parts */
function globalPath({ scheme, authority, path }) {
  const isNetwork = scheme === "http" || scheme === "https" || authority === undefined || authority === "" || /[.:@]/.test(authority);
  return isNetwork ? path : [authority.toLowerCase(), ...path];
}

/**
 * @param {string} text
 * @param {boolean} [ignoringCase] of a literal; a parameter's name keeps it
 * @returns {Segment}
 */
function segment(text, ignoringCase = false) {
  if (text.startsWith(":")) return { parameter: text.slice(1) };
  return { literal: decoded(ignoringCase ? text.toLowerCase() : text) };
}

/**
 * @param {Segment | undefined} expected
 * @param {string | undefined} actual
 * @param {Captures} captures
 */
function fits(expected, actual, captures) {
  if (expected === undefined || actual === undefined) return expected === actual;
  if ("literal" in expected) return expected.literal === decoded(actual);
  if (actual === "") return false;
  if ("parameter" in expected) captures.push([expected.parameter, decoded(actual)]);
  return true;
}

/** @param {string} text */
function wrong(text) {
  return failure("invalidParams", `not a pattern: ${clipped(text)}; write "scheme://part/:name" or "/part/:name"`);
}

/** @param {string} text */
function clipped(text) {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
