// @ts-check
import { failure } from "../values/errors.js";
import { decoded, isDot, normalForm, split } from "./uri.js";

/**
 * A parameter matches any one segment that is not empty; `rest` matches all remaining segments.
 * @typedef {{literal: string} | {parameter: string} | {rest: true}} Segment
 */
/** @typedef {[string, string | string[]][]} Captures values by name; those of a `*` are an array under the name `*` */

/** Maximum number of patterns that one text with optional groups can expand to. */
const MAX_FORMS = 32;

/**
 * A route pattern, with the functions that are needed without a server: it finds the fallback for a URI. `native://address/:id` is matched
 * segment by segment. A pattern that begins with `/` is matched against the path, with the authority in front of it unless that is a network
 * host.
 */
export class Pattern {
  /**
   * @param {string} text without optional groups
   * @param {string} [whole] the text with optional groups
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
   * Returns all patterns that a text expands to: `/a(/:b)` is `/a` and `/a/:b`.
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
        // An innermost group.
        const [, before, group, after] = /^([^()]*(?:\([^()]*)*)\((\/[^()]*)\)(.*)$/s.exec(each) ?? [];
        if (before === undefined) next.add(each);
        else next.add(before + after).add(before + group + after);
        found ||= before !== undefined;
      }
      if (next.size > MAX_FORMS) {
        throw failure("invalidParams", `The pattern ${clipped(text)} has more than ${MAX_FORMS} forms; use fewer optional groups`);
      }
      texts = next;
    }
    return [...texts].map((each) => new Pattern(each, text));
  }

  /**
   * Returns the captures of a URI, or `undefined` if it does not match. The URI is brought into its normal form first.
   * @param {string} uri
   * @returns {Captures | undefined}
   */
  match(uri) {
    const parts = split(normalForm(uri));
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
   * Returns a negative number if this pattern is more specific than the other: literal before parameter before rest, from the left.
   * @param {Pattern} other
   */
  compare(other) {
    const [mine, theirs] = [this.#weights(), other.#weights()];
    for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1) {
      // If one pattern has ended, the other one has a rest, which can match nothing.
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
 * @param {boolean} [ignoringCase] applies to a literal; the name of a parameter keeps its case
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
  return failure("invalidParams", `${clipped(text)} is not a pattern; write "scheme://part/:name" or "/part/:name"`);
}

/** @param {string} text */
function clipped(text) {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
