// @ts-check
import { Pattern } from "./pattern.js";
import { queryOf, schemeOf } from "./uri.js";

/** @typedef {import("./registry.js").Declaration} Declaration */
/**
 * @template Handler
 * @typedef {{handler: Handler, params: Record<string, unknown>, host: import("./registry.js").ChosenHost}} Found
 */

/**
 * Handlers by URI, pattern or scheme, for where there is no server that would choose: the most specific pattern wins, then
 * the last that was added; a whole scheme comes after every pattern.
 * @template Handler
 */
export class URIMap {
  /**
   * The last registered first.
   * @type {{declaration: Declaration, handler: Handler, patterns: Pattern[]}[]}
   */
  #entries = [];

  /**
   * @param {Declaration} declaration
   * @param {Handler} handler
   * @returns {() => void} removes it
   */
  add(declaration, handler) {
    const patterns = (declaration.patterns ?? []).flatMap((text) => Pattern.all(text));
    const added = { declaration, handler, patterns };
    this.#entries.unshift(added);
    return () => {
      this.#entries = this.#entries.filter((entry) => entry !== added);
    };
  }

  /**
   * The best handler for a URI.
   * @param {string} uri
   */
  find(uri) {
    return this.all(uri)[0];
  }

  /**
   * The handlers for a URI, the best first, each with the parameters of query and path, and by what it was found.
   * @param {string} uri
   * @returns {Found<Handler>[]}
   */
  all(uri) {
    const scheme = schemeOf(uri);
    /** @typedef {{declaration: Declaration, handler: Handler, pattern: Pattern | undefined, captures: import("./pattern.js").Captures}} Match */
    /** @type {Match[]} */
    const found = this.#entries.flatMap(({ declaration, handler, patterns }) => {
      if (declaration.scheme !== undefined && declaration.scheme !== scheme) return [];
      /** @type {Match[]} */
      const whole = [{ declaration, handler, pattern: undefined, captures: [] }];
      if (declaration.patterns === undefined) return whole;
      const matches = patterns.flatMap((pattern) => {
        const captures = pattern.match(uri);
        return captures === undefined ? [] : [{ declaration, handler, pattern, captures }];
      });
      return matches.sort((one, other) => one.pattern.compare(other.pattern)).slice(0, 1);
    });
    found.sort(({ pattern: one }, { pattern: other }) =>
      one === undefined || other === undefined ? Number(one === undefined) - Number(other === undefined) : one.compare(other));
    return found.map(({ declaration: { scheme: own, kind }, handler, pattern, captures }) => ({
      handler,
      // `fromEntries` makes own members of all names, `__proto__` too.
      params: Object.fromEntries([...queryOf(uri), ...captures]),
      host: { scheme: own, pattern: pattern?.text, kind },
    }));
  }
}

/**
 * What is meant by a scheme, a URI or a pattern, as a host declares it.
 * @param {string} key
 */
export function placeOf(key) {
  const isScheme = schemeOf(`${key}:`) === key.toLowerCase();
  return isScheme ? { scheme: key.toLowerCase() } : { patterns: [key] };
}
