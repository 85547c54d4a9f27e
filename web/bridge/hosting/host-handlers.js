// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../values/errors.js";
import { runHandler } from "./client-methods.js";
import { checkHost, HostRegistry } from "./host-registry.js";
import { methodNotFound } from "../calls/incoming-requests.js";
import { HostedPages } from "./hosted-pages.js";
import { schemeOf } from "../uri/uri.js";
import { hasHalfPair } from "../values/json-values.js";
import { KeyedResults } from "./keyed-results.js";
import { platformClock } from "../connection/clock.js";

/** @typedef {import("../types/api.js").PageHost} PageHost */
/** @typedef {import("../types/api.js").TaskHandler} TaskHandler */
/** @typedef {import("../types/api.js").MethodCall} MethodCall */
/** @typedef {import("../types/api.js").MethodHandler} MethodHandler */
/** @typedef {import("./host-registry.js").Declaration} Declaration */

/** The handlers of this client's hosts: pages, tasks, and methods of pages. */
export class HostHandlers {
  /** @type {HostRegistry<PageHost>} */ #hosts = new HostRegistry();
  /** @type {HostRegistry<TaskHandler>} */ #tasks = new HostRegistry();
  pages = new HostedPages(this.#hosts);

  /**
   * The handlers of the server's requests, by method.
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
  #results;
  /**
   * The page in which the client runs. Its methods are those of the client.
   * @type {string | undefined}
   */
  page;

  /**
   * @param {import("./client-methods.js").ClientMethods} methods the methods of the client itself
   * @param {KeyedResults} results
   */
  constructor(methods, results = new KeyedResults(platformClock)) {
    this.#methods = methods;
    this.#results = results;
  }

  /** The declarations of all hosts, as they are registered with the server. */
  get declarations() {
    return [...this.#hosts.declarations, ...this.#tasks.declarations];
  }

  /**
   * @param {string} scheme
   * @param {PageHost} host
   */
  addPages(scheme, host) {
    if (typeof scheme !== "string" || schemeOf(`${scheme}:`) !== scheme.toLowerCase()) {
      throw invalid(globalThis.__waybridgeBrief ? "A host needs a scheme" : `A host needs a scheme such as "native", without a colon, but got ${JSON.stringify(scheme)}`);
    }
    if (typeof host?.open !== "function" || typeof host.close !== "function") {
      throw invalid(globalThis.__waybridgeBrief ? `The host of "${scheme}" needs a function` : `The host of "${scheme}" needs the functions open and close`);
    }
    /** @type {Declaration} */
    const declaration = { scheme: scheme.toLowerCase(), kind: "page" };
    if (host.patterns !== undefined) declaration.patterns = host.patterns.map(checkPattern);
    const remove = this.#hosts.add(declaration, host);
    this.pages.hostAdded();
    return { declaration, remove };
  }

  /**
   * @param {string} pattern a URI, or a pattern of URIs
   * @param {TaskHandler} handler
   */
  addTask(pattern, handler) {
    if (typeof handler !== "function") throw invalid(`The task "${pattern}" needs a function`);
    /** @type {Declaration} */
    const declaration = { patterns: [checkPattern(pattern)], kind: "task" };
    return { declaration, remove: this.#tasks.add(declaration, handler) };
  }

  /**
   * @param {any} params
   * @param {MethodCall} call
   */
  async #run({ uri, params, exts, host, ...request }, call) {
    if (typeof uri !== "string") throw invalid(globalThis.__waybridgeBrief ? "Invalid params" : "task.run needs a uri");
    const handler = this.#tasks.find(checkHost(host));
    if (handler === undefined) throw failure("hostAbsent", globalThis.__waybridgeBrief ? "No such host" : `This client does not run "${uri}"`);
    const keyed = this.#results.context(["task.run", host], request);
    return runHandler(call.signal, () => handler(params ?? {}, { uri, exts: exts ?? {}, ...call, ...keyed }));
  }

  /**
   * @param {any} params
   * @param {MethodCall} call
   */
  async #call({ page: id, method, params, ...request }, call) {
    if (typeof id !== "string" || typeof method !== "string") throw invalid(globalThis.__waybridgeBrief ? "Invalid params" : "page.call needs a page and a method");
    const shown = this.pages.get(id);
    if (shown === undefined && id !== this.page) {
      throw bridgeError(codeOf.noRoute, globalThis.__waybridgeBrief ? "No such page" : `This client does not show the page "${id}"`, { data: { kind: "notOnStack", retryable: false } });
    }
    const own = shown?.host.methods;
    const handler = own !== undefined && Object.hasOwn(own, method) ? own[method] : id === this.page && this.#methods.get(method);
    if (typeof handler !== "function") throw methodNotFound(method);
    const keyed = this.#results.context(["page.call", id, method], request);
    return runHandler(call.signal, () => handler(params ?? {}, { ...call, ...keyed, page: shown?.page ?? { id } }));
  }
}

/** @param {unknown} pattern only its start and its characters are checked here; the server checks the rest */
function checkPattern(pattern) {
  if (typeof pattern === "string" && (pattern.startsWith("/") || schemeOf(pattern) !== undefined) && !hasHalfPair(pattern)) return pattern;
  throw invalid(`${JSON.stringify(pattern)} is not a pattern${globalThis.__waybridgeBrief ? "" : '; write "scheme://part/:name" or "/part/:name"'}`);
}

/** @param {string} message */
function invalid(message) {
  return failure("invalidParams", message);
}
