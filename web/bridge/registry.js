// @ts-check
import { failure } from "./errors.js";
import { Pattern } from "./pattern.js";
import { queryOf, schemeOf } from "./uri.js";

/** @typedef {{scheme?: string, patterns?: string[], kind: "page" | "task" | "service"}} Declaration what the server is told about a host */

/**
 * The hosts of one kind, each with what it declared. As at the server, the most specific pattern wins, then the last
 * registered; a host of a whole scheme comes after every pattern.
 * @template Handler
 */
export class Registry {
  /**
   * The last registered first.
   * @type {{declaration: Declaration, handler: Handler, patterns: Pattern[]}[]}
   */
  #entries = [];

  /** In the order of registration. */
  get declarations() {
    return this.#entries.map((entry) => entry.declaration).reverse();
  }

  /**
   * @param {Declaration} declaration
   * @param {Handler} handler
   * @returns {() => void} removes it
   */
  add(declaration, handler) {
    const patterns = (declaration.patterns ?? []).flatMap((text) => Pattern.all(text));
    // The server can not tell two equal declarations of one client apart: taking back one would take both.
    const text = JSON.stringify(declaration);
    if (this.#entries.some((entry) => JSON.stringify(entry.declaration) === text)) {
      throw failure("conflict", `this client hosts ${text} already; take the first back before`);
    }
    const added = { declaration, handler, patterns };
    this.#entries.unshift(added);
    return () => {
      this.#entries = this.#entries.filter((entry) => entry !== added);
    };
  }

  /**
   * The handler for a URI, with the parameters of query and path.
   * @param {string} uri
   * @returns {{handler: Handler, params: Record<string, unknown>} | undefined}
   */
  find(uri) {
    const scheme = schemeOf(uri);
    /** @type {{handler: Handler, pattern: Pattern | undefined, captures: import("./pattern.js").Captures} | undefined} */
    let best;
    for (const { declaration, handler, patterns } of this.#entries) {
      if (declaration.scheme !== undefined && declaration.scheme !== scheme) continue;
      if (declaration.patterns === undefined) {
        best ??= { handler, pattern: undefined, captures: [] };
        continue;
      }
      for (const pattern of patterns) {
        const captures = pattern.match(uri);
        if (captures === undefined || (best?.pattern !== undefined && pattern.compare(best.pattern) >= 0)) continue;
        best = { handler, pattern, captures };
      }
    }
    // `fromEntries` makes own members of all names, `__proto__` too.
    return best && { handler: best.handler, params: Object.fromEntries([...queryOf(uri), ...best.captures]) };
  }
}

/**
 * What a host declares that is given by a scheme, a URI or a pattern.
 * @param {string} key
 */
export function placeOf(key) {
  const isScheme = schemeOf(`${key}:`) === key.toLowerCase();
  return isScheme ? { scheme: key.toLowerCase() } : { patterns: [key] };
}
