// @ts-check
import { failure } from "./errors.js";

/** @typedef {{literal: string} | {parameter: string}} Segment a parameter takes any one segment that is not empty */

/**
 * A route pattern, as far as a client needs it: to find which of its hosts a URI belongs to. `native://address/:id` is
 * matched part by part; a pattern that begins with `/` is matched against the path, with the authority before it where
 * that is no network address.
 */
export class Pattern {
  /** @param {string} text */
  constructor(text) {
    const parts = split(text);
    if ((parts.scheme === undefined && !text.startsWith("/")) || /[?#]/.test(text)) {
      throw failure("invalidParams", `not a pattern: ${JSON.stringify(text)}; write "scheme://part/:name" or "/part/:name"`);
    }
    /** @type {string | undefined} */
    this.scheme = parts.scheme;
    /** @type {Segment | undefined} */
    this.authority = parts.authority === undefined ? undefined : segment(parts.authority.toLowerCase());
    /** @type {Segment[]} */
    this.path = parts.path.map(segment);
  }

  /**
   * Whether the URI fits.
   * @param {string} uri
   */
  matches(uri) {
    const parts = split(uri);
    if (parts.scheme === undefined) return false;
    let path = parts.path;
    if (this.scheme === undefined) {
      path = globalPath(parts);
    } else if (parts.scheme !== this.scheme || !fits(this.authority, parts.authority?.toLowerCase())) {
      return false;
    }
    return path.length === this.path.length && this.path.every((each, index) => fits(each, path[index]));
  }

  /**
   * Negative when this pattern is the more specific of two that fit one URI: literal before parameter, from the left.
   * @param {Pattern} other
   */
  compare(other) {
    const [mine, theirs] = [this.#segments(), other.#segments()];
    for (let index = 0; index < Math.min(mine.length, theirs.length); index += 1) {
      const difference = Number("parameter" in mine[index]) - Number("parameter" in theirs[index]);
      if (difference !== 0) return difference;
    }
    return Number(this.scheme === undefined) - Number(other.scheme === undefined);
  }

  #segments() {
    return this.authority === undefined ? this.path : [this.authority, ...this.path];
  }
}

/**
 * The scheme of a URI in lower case, or undefined.
 * @param {string} uri
 */
export function schemeOf(uri) {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1].toLowerCase();
}

/**
 * @param {string} text
 * @returns {{scheme: string | undefined, authority: string | undefined, path: string[]}}
 */
function split(text) {
  // The expression of RFC 3986, appendix B, without query and fragment; it fits every text.
  const [, scheme, authority, rest = ""] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)/.exec(text) ?? [];
  const path = rest.replace(/\/$/, "");
  return { scheme: scheme?.toLowerCase(), authority, path: path === "" ? [] : path.replace(/^\//, "").split("/") };
}

/** @param {{scheme: string | undefined, authority: string | undefined, path: string[]}} parts */
function globalPath({ scheme, authority, path }) {
  const isNetwork = scheme === "http" || scheme === "https" || authority === undefined || authority === "" || /[.:@]/.test(authority);
  return isNetwork ? path : [authority.toLowerCase(), ...path];
}

/**
 * @param {string} text
 * @returns {Segment}
 */
function segment(text) {
  return text.startsWith(":") ? { parameter: text.slice(1) } : { literal: decoded(text) };
}

/**
 * @param {Segment | undefined} expected
 * @param {string | undefined} actual
 */
function fits(expected, actual) {
  if (expected === undefined || actual === undefined) return expected === actual;
  return "parameter" in expected ? actual !== "" : expected.literal === decoded(actual);
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
