// @ts-check
import { failure } from "./errors.js";

/** @typedef {{scheme?: string, patterns?: string[], kind: "page" | "task" | "service"}} Declaration what the server is told about a host */
/** @typedef {{scheme?: string, pattern?: string, kind: string}} ChosenHost which host the server has chosen, and by which of its patterns */

/**
 * The hosts of one kind, each with what it declared. The server says which of them is to serve a call.
 * @template Handler
 */
export class Registry {
  /**
   * The last registered first.
   * @type {{declaration: Declaration, handler: Handler}[]}
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
    // The server can not tell two equal declarations of one client apart: taking back one would take both.
    const text = JSON.stringify(declaration);
    if (this.#entries.some((entry) => JSON.stringify(entry.declaration) === text)) {
      throw failure("conflict", `this client hosts ${text} already${globalThis.__waybridgeBrief ? "" : "; take the first back before"}`);
    }
    const added = { declaration, handler };
    this.#entries.unshift(added);
    return () => {
      this.#entries = this.#entries.filter((entry) => entry !== added);
    };
  }

  /**
   * The handler that the server means; of several with one pattern the last registered, as at the server.
   * @param {ChosenHost} chosen
   * @returns {Handler | undefined}
   */
  find({ scheme, pattern }) {
    return this.#entries.find(({ declaration: own }) =>
      own.scheme === scheme && (pattern === undefined ? own.patterns === undefined : own.patterns?.includes(pattern)))?.handler;
  }

  /**
   * The last registered of a scheme.
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
  throw failure("invalidParams", "page.open and task.run need the host that was chosen");
}
