// @ts-check
import { failure } from "../values/errors.js";

/**
 * @typedef {object} Declaration a host or an interceptor, as it is registered with the server
 * @property {string} [scheme]
 * @property {string[]} [patterns]
 * @property {"page" | "task" | "service" | "interceptor"} kind
 * @property {string} [name] of an interceptor, as the members below
 * @property {string[]} [groups]
 * @property {number} [priority]
 * @property {number} [timeoutMs]
 */
/** @typedef {{scheme?: string, pattern?: string, kind: string}} ChosenHost the host that the server has chosen, and the pattern that matched */

/**
 * The hosts of one kind, each with its declaration. The server chooses which of them handles a call.
 * @template Handler
 */
export class HostRegistry {
  /**
   * The entry that was registered last is first.
   * @type {{declaration: Declaration, handler: Handler}[]}
   */
  #entries = [];

  /** The declarations in the order of registration. */
  get declarations() {
    return this.#entries.map((entry) => entry.declaration).reverse();
  }

  /**
   * @param {Declaration} declaration
   * @param {Handler} handler
   * @returns {() => void} removes the host
   */
  add(declaration, handler) {
    // The server cannot distinguish two equal declarations of one client: removing one would remove both.
    const text = JSON.stringify(declaration);
    if (this.#entries.some((entry) => JSON.stringify(entry.declaration) === text)) {
      throw failure("conflict", globalThis.__waybridgeBrief ? `${text} is hosted already` : `This client already hosts ${text}; remove the first one before`);
    }
    const added = { declaration, handler };
    this.#entries.unshift(added);
    return () => {
      this.#entries = this.#entries.filter((entry) => entry !== added);
    };
  }

  /**
   * Returns the handler that the server has chosen. If several have the same pattern, it is the last registered one, as on the server.
   * @param {ChosenHost} chosen
   * @returns {Handler | undefined}
   */
  find({ scheme, pattern }) {
    return this.#entries.find(({ declaration: own }) =>
      own.scheme === scheme && (pattern === undefined ? own.patterns === undefined : own.patterns?.includes(pattern)))?.handler;
  }

  /**
   * Returns the handler of a scheme that was registered last.
   * @param {string | undefined} scheme
   * @returns {Handler | undefined}
   */
  ofScheme(scheme) {
    return this.#entries.find(({ declaration: own }) => own.scheme === scheme)?.handler;
  }
}

/**
 * @param {any} host
 * @returns {ChosenHost}
 */
export function checkHost(host) {
  if (typeof host?.kind === "string") return host;
  throw failure("invalidParams", globalThis.__waybridgeBrief ? "Invalid params" : "page.open and task.run need the chosen host");
}
