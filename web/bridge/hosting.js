// @ts-check
import { codeOf } from "./codes.js";
import { bridgeError, failure } from "./errors.js";
import { served } from "./methods.js";
import { checkHost, Registry } from "./registry.js";
import { noMethod } from "./serving.js";
import { ShownPages } from "./shown-pages.js";
import { schemeOf } from "./uri.js";

/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./types.js").MethodCall} MethodCall */
/** @typedef {import("./types.js").MethodHandler} MethodHandler */
/** @typedef {import("./registry.js").Declaration} Declaration */

/** What this client shows and runs for others. */
export class Hosting {
  /** @type {Registry<PageHost>} */ #hosts = new Registry();
  /** @type {Registry<TaskHandler>} */ #tasks = new Registry();
  pages = new ShownPages(this.#hosts);

  /**
   * What it answers to the server, by method.
   * @type {Map<string, MethodHandler>}
   */
  requests = new Map(
    /** @type {[string, MethodHandler][]} */ ([
      ["page.open", (params, call) => this.pages.open(params, call)],
      ["page.close", (params) => this.pages.close(params)],
      ["page.call", (params, call) => this.#call(params, call)],
      ["task.run", (params, call) => this.#run(params, call)],
    ]),
  );

  #methods;
  /**
   * The page in which the client runs: its methods are the client's.
   * @type {string | undefined}
   */
  page;

  /** @param {import("./methods.js").Methods} methods what the client itself can be asked */
  constructor(methods) {
    this.#methods = methods;
  }

  /** What the server is told about all of them. */
  get declarations() {
    return [...this.#hosts.declarations, ...this.#tasks.declarations];
  }

  /**
   * @param {string} scheme
   * @param {PageHost} host
   */
  addPages(scheme, host) {
    if (typeof scheme !== "string" || schemeOf(`${scheme}:`) !== scheme.toLowerCase()) {
      throw invalid(`not a scheme: ${JSON.stringify(scheme)}${globalThis.__waybridgeBrief ? "" : '; write it as "native", without a colon'}`);
    }
    if (typeof host?.open !== "function" || typeof host.close !== "function") {
      throw invalid(`the host of ${scheme} needs the functions open and close`);
    }
    /** @type {Declaration} */
    const declaration = { scheme: scheme.toLowerCase(), kind: "page" };
    if (host.patterns !== undefined) declaration.patterns = host.patterns.map(checkPattern);
    const remove = this.#hosts.add(declaration, host);
    this.pages.added();
    return { declaration, remove };
  }

  /**
   * @param {string} pattern a URI, or a pattern of URIs
   * @param {TaskHandler} handler
   */
  addTask(pattern, handler) {
    if (typeof handler !== "function") throw invalid(`the task ${pattern} needs a function`);
    /** @type {Declaration} */
    const declaration = { patterns: [checkPattern(pattern)], kind: "task" };
    return { declaration, remove: this.#tasks.add(declaration, handler) };
  }

  /**
   * @param {any} params
   * @param {MethodCall} call
   */
  async #run({ uri, params, exts, host }, call) {
    if (typeof uri !== "string") throw invalid("task.run needs a uri");
    const handler = this.#tasks.find(checkHost(host));
    if (handler === undefined) throw failure("hostAbsent", `this client runs no ${uri}`);
    return served(call.signal, () => handler(params ?? {}, { uri, exts: exts ?? {}, ...call }));
  }

  /**
   * @param {any} params
   * @param {MethodCall} call
   */
  async #call({ page: id, method, params }, call) {
    if (typeof id !== "string" || typeof method !== "string") throw invalid("page.call needs a page and a method");
    const shown = this.pages.get(id);
    if (shown === undefined && id !== this.page) {
      throw bridgeError(codeOf.noRoute, `this client shows no page ${id}`, { data: { kind: "notOnStack", retryable: false } });
    }
    const own = shown?.host.methods;
    const handler = own !== undefined && Object.hasOwn(own, method) ? own[method] : id === this.page && this.#methods.get(method);
    if (typeof handler !== "function") throw noMethod(method);
    return served(call.signal, () => handler(params ?? {}, { ...call, page: shown?.page ?? { id } }));
  }
}

/** @param {unknown} pattern the server reads the rest of it */
function checkPattern(pattern) {
  if (typeof pattern === "string" && (pattern.startsWith("/") || schemeOf(pattern) !== undefined)) return pattern;
  throw invalid(`not a pattern: ${JSON.stringify(pattern)}${globalThis.__waybridgeBrief ? "" : '; write "scheme://part/:name" or "/part/:name"'}`);
}

/** @param {string} message */
function invalid(message) {
  return failure("invalidParams", message);
}
