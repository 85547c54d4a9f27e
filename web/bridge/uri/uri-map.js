// @ts-check
import { Pattern } from "./pattern.js";
import { normalForm, queryOf, schemeOf } from "./uri.js";

/** @typedef {import("../hosting/host-registry.js").Declaration} Declaration */
/**
 * @template Handler
 * @typedef {{handler: Handler, params: Record<string, unknown>, host: import("../hosting/host-registry.js").ChosenHost}} Found
 */

/**
 * Handlers by URI, pattern or scheme, for a client that has to choose without a server. The most specific pattern wins, then the handler
 * that was added last. A handler of a whole scheme comes after all patterns.
 * @template Handler
 */
export class URIMap {
  /**
   * The entry that was registered last is first.
   * @type {{declaration: Declaration, handler: Handler, patterns: Pattern[]}[]}
   */
  #entries = [];

  /**
   * @param {Declaration} declaration
   * @param {Handler} handler
   * @returns {() => void} removes the handler
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
   * Returns the best handler for a URI.
   * @param {string} uri
   */
  find(uri) {
    return this.all(uri)[0];
  }

  /**
   * Returns the handlers for a URI, the best first, each with the parameters of query and path and the matched declaration.
   * @param {string} called
   * @returns {Found<Handler>[]}
   */
  all(called) {
    const uri = normalForm(called);
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
      // `fromEntries` creates own properties for all names, including `__proto__`.
      params: Object.fromEntries([...queryOf(uri), ...captures]),
      host: { scheme: own, pattern: pattern?.text, kind },
    }));
  }
}

/**
 * Returns the declaration of a host for a scheme, a URI or a pattern.
 * @param {string} key
 */
export function declarationOf(key) {
  const isScheme = schemeOf(`${key}:`) === key.toLowerCase();
  return isScheme ? { scheme: key.toLowerCase() } : { patterns: [key] };
}
