// @ts-check
import { failure } from "../values/errors.js";
import { decoded, isDot, normalForm, split } from "./uri.js";

/** @typedef {[string, string | string[]][]} Captures values by name; those of a `*` are an array under the name `*` */

/** Maximum number of patterns that one text with optional groups can expand to. */
const MAX_FORMS = 32;
/** The text before an innermost optional group, the group, and the text after it. */
const GROUP = /^([^()]*(?:\([^()]*)*)\((\/[^()]*)\)(.*)$/s;

/**
 * A route pattern, with the functions that are needed without a server: it finds the fallback for a URI. `native://address/:id` is matched
 * segment by segment. A pattern that begins with `/` is matched against the path, with the authority in front of it unless that is a network
 * host.
 */
export class Pattern {
  #scheme;
  /** The authority, if the pattern has a scheme, and the path without its rest. */
  #segments;
  /** Whether a `*` follows, which matches all remaining segments. */
  #hasRest;

  /**
   * @param {string} text without optional groups
   * @param {string} [whole] the text with optional groups
   */
  constructor(text, whole = text) {
    const { scheme, authority, path } = split(text);
    const isPattern = (scheme !== undefined || text.startsWith("/")) && !/[?#()]/.test(text) && !path.some((each) => isDot(decoded(each)));
    if (!isPattern) throw failure("invalidParams", `${clipped(text)} is not a pattern; write "scheme://part/:name" or "/part/:name"`);
    this.text = whole;
    this.#scheme = scheme;
    this.#hasRest = path.at(-1) === "*";
    const fixed = this.#hasRest ? path.slice(0, -1) : path;
    this.#segments = scheme === undefined ? fixed : [authority && !isParameter(authority) ? authority.toLowerCase() : authority, ...fixed];
  }

  /**
   * Returns all patterns that a text expands to.
   * @param {string} text
   * @returns {Pattern[]}
   */
  static all(text) {
    return expansions(text).map((each) => new Pattern(each, text));
  }

  /**
   * Returns the captures of a URI, or `undefined` if it does not match. The URI is brought into its normal form first.
   * @param {string} uri
   * @returns {Captures | undefined}
   */
  match(uri) {
    const parts = split(normalForm(uri));
    if (parts.scheme === undefined || (this.#scheme ?? parts.scheme) !== parts.scheme) return undefined;
    const actual = this.#scheme === undefined ? globalPath(parts) : [parts.authority?.toLowerCase(), ...parts.path];
    const rest = actual.slice(this.#segments.length);
    if (actual.length < this.#segments.length || (rest.length > 0 && !this.#hasRest)) return undefined;
    /** @type {Captures} */
    const captures = [];
    if (!this.#segments.every((each, index) => fits(each, actual[index], captures))) return undefined;
    if (this.#hasRest) captures.push(["*", rest.map((each) => decoded(String(each)))]);
    return captures;
  }

  /**
   * Returns a negative number if this pattern is more specific than the other: literal before parameter before rest, from the left.
   * @param {Pattern} other
   */
  compare(other) {
    const [mine, theirs] = [this.#weights, other.#weights];
    for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1) {
      // If one pattern has ended, the other one has a rest, which can match nothing.
      const difference = (mine[index] ?? 0) - (theirs[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return Number(this.#scheme === undefined) - Number(other.#scheme === undefined);
  }

  /** For each segment 0 if it is a literal, 1 if it is a parameter, 2 if it is a rest. */
  get #weights() {
    const weights = this.#segments.flatMap((each) => (each === undefined ? [] : Number(isParameter(each))));
    return this.#hasRest ? [...weights, 2] : weights;
  }
}

/**
 * Returns all forms of a pattern, without optional groups: `/a(/:b)` is `/a` and `/a/:b`.
 * @param {string} text
 * @returns {string[]}
 */
export function expansions(text) {
  let forms = [text];
  while (forms.some((form) => GROUP.test(form))) {
    forms = [...new Set(forms.flatMap(withAndWithoutGroup))];
    if (forms.length > MAX_FORMS) {
      throw failure("invalidParams", `The pattern ${clipped(text)} has more than ${MAX_FORMS} forms; use fewer optional groups`);
    }
  }
  return forms;
}

/**
 * Returns a text without its first innermost group and with it, or the text itself if it has none.
 * @param {string} text
 */
function withAndWithoutGroup(text) {
  const [, before, group, after] = GROUP.exec(text) ?? [];
  return before === undefined ? [text] : [before + after, before + group + after];
}

/** @param {{scheme: string | undefined, authority: string | undefined, path: string[]}} parts */
function globalPath({ scheme, authority, path }) {
  const isNetwork = scheme === "http" || scheme === "https" || authority === undefined || authority === "" || /[.:@]/.test(authority);
  return isNetwork ? path : [authority.toLowerCase(), ...path];
}

/** @param {string} segment of a pattern */
function isParameter(segment) {
  return segment.startsWith(":");
}

/**
 * Whether a segment fits that of a pattern. A parameter fits any segment that is not empty, and captures it.
 * @param {string | undefined} expected
 * @param {string | undefined} actual
 * @param {Captures} captures
 */
function fits(expected, actual, captures) {
  if (expected === undefined || actual === undefined) return expected === actual;
  if (!isParameter(expected)) return decoded(expected) === decoded(actual);
  if (actual === "") return false;
  captures.push([expected.slice(1), decoded(actual)]);
  return true;
}

/** @param {string} text */
function clipped(text) {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
