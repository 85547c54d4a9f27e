// @ts-check
import { codes } from "./codes.js";
import { bridgeError, failure, hostFailure } from "./errors.js";
import { served } from "./methods.js";
import { Registry } from "./registry.js";
import { noMethod } from "./serving.js";
import { schemeOf } from "./uri.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./types.js").MethodCall} MethodCall */
/** @typedef {import("./types.js").MethodHandler} MethodHandler */
/** @typedef {import("./registry.js").Declaration} Declaration */

/** @typedef {{page: Page, host: PageHost, opened: Promise<boolean>, abort: AbortController}} Shown */

/** What this client shows and runs for others, and the pages that it shows now. */
export class Hosting {
  /** @type {Registry<PageHost>} */ #hosts = new Registry();
  /** @type {Registry<TaskHandler>} */ #tasks = new Registry();
  /**
   * By id, those still opening included.
   * @type {Map<string, Shown>}
   */
  #pages = new Map();

  /**
   * What it answers to the server, by method.
   * @type {Map<string, MethodHandler>}
   */
  requests = new Map(
    /** @type {[string, MethodHandler][]} */ ([
      ["page.open", (params, call) => this.#open(checkPage(params.page), checkHost(params.host), call)],
      ["page.close", (params) => this.#close(params)],
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
      throw invalid(`not a scheme: ${JSON.stringify(scheme)}; write it as "native", without a colon`);
    }
    if (typeof host?.open !== "function" || typeof host.close !== "function") {
      throw invalid(`the host of ${scheme} needs the functions open and close`);
    }
    /** @type {Declaration} */
    const declaration = { scheme: scheme.toLowerCase(), kind: "page" };
    if (host.patterns !== undefined) declaration.patterns = host.patterns.map(checkPattern);
    return { declaration, remove: this.#hosts.add(declaration, host) };
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
   * Gives a page that is shown already to its host, where there is one.
   * @param {Page} page
   * @param {PageHost} [host] the last registered of the page's scheme, where none is given
   */
  adopt(page, host = this.#hosts.ofScheme(schemeOf(page.uri))) {
    if (host !== undefined) this.#pages.set(page.id, { page, host, opened: Promise.resolve(true), abort: new AbortController() });
  }

  /**
   * Tells its host that a page is on top again.
   * @param {unknown} id
   */
  async resume(id) {
    const shown = typeof id === "string" ? this.#pages.get(id) : undefined;
    await shown?.host.resume?.(shown.page);
  }

  /**
   * The session is gone, and its pages with it: they are taken away.
   * @param {(error: unknown) => void} failed told of each host that did not manage to
   */
  lost(failed) {
    const lost = [...this.#pages.values()];
    // A new session may give their ids to its own pages.
    this.#pages.clear();
    for (const shown of lost) takeAway(shown, "failed").catch(failed);
  }

  /**
   * @param {Page} page
   * @param {import("./registry.js").ChosenHost} chosen
   * @param {MethodCall} call `signal`: the server no longer wants the page
   */
  async #open(page, chosen, { signal, progress, ...deputy }) {
    const host = this.#hosts.find(chosen);
    if (host === undefined) throw failure("hostAbsent", `this client shows no ${page.uri}`);
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
    const opening = (async () => host.open(page, { signal: abort.signal, ...deputy }))();
    const opened = opening.then(() => true, () => false);
    const shown = { page, host, opened, abort };
    this.#pages.set(page.id, shown);
    try {
      await opening;
    } catch (error) {
      this.#forget(shown);
      throw signal.aborted ? failure("cancelled") : hostFailure(error);
    }
    if (!signal.aborted) return null;
    // Nobody waits for this page any more: left alone it would stay in sight without being in the stack.
    if (this.#forget(shown)) await takeAway(shown, "cancelled");
    throw failure("cancelled");
  }

  /**
   * Of a page that is gone already it is true that it is closed.
   * @param {any} params
   */
  async #close({ page: id, reason, exts }) {
    if (typeof id !== "string") throw invalid("page.close needs the id of a page");
    const shown = this.#pages.get(id);
    if (shown === undefined) return null;
    this.#forget(shown);
    await takeAway(shown, reason, exts ?? {});
    return null;
  }

  /**
   * @param {Shown} shown
   * @returns {boolean} whether it was there
   */
  #forget(shown) {
    return this.#pages.get(shown.page.id) === shown && this.#pages.delete(shown.page.id);
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
    const shown = this.#pages.get(id);
    if (shown === undefined && id !== this.page) {
      throw bridgeError(codes.noRoute.code, `this client shows no page ${id}`, { data: { kind: "notOnStack", retryable: false } });
    }
    const own = shown?.host.methods;
    const handler = own !== undefined && Object.hasOwn(own, method) ? own[method] : id === this.page && this.#methods.get(method);
    if (typeof handler !== "function") throw noMethod(method);
    return served(call.signal, () => handler(params ?? {}, { ...call, page: shown?.page ?? { id } }));
  }
}

/**
 * Ends a page's opening, or closes it when it is shown.
 * @param {Shown} shown
 * @param {import("./types.js").Outcome["outcome"]} reason
 * @param {import("./types.js").Params} [exts] of what closed it
 */
async function takeAway({ page, host, opened, abort }, reason, exts = {}) {
  abort.abort(failure("cancelled"));
  if (!(await opened)) return;
  try {
    await host.close(page, reason, exts);
  } catch (error) {
    throw hostFailure(error);
  }
}

/**
 * @param {any} page
 * @returns {Page}
 */
function checkPage(page) {
  if (typeof page?.id === "string" && typeof page.uri === "string") return page;
  throw invalid("page.open needs a page with id and uri");
}

/**
 * @param {any} host
 * @returns {import("./registry.js").ChosenHost}
 */
function checkHost(host) {
  if (typeof host?.kind === "string") return host;
  throw invalid("page.open and task.run need the host that was chosen");
}

/** @param {unknown} pattern the server reads the rest of it */
function checkPattern(pattern) {
  if (typeof pattern === "string" && (pattern.startsWith("/") || schemeOf(pattern) !== undefined)) return pattern;
  throw invalid(`not a pattern: ${JSON.stringify(pattern)}; write "scheme://part/:name" or "/part/:name"`);
}

/** @param {string} message */
function invalid(message) {
  return failure("invalidParams", message);
}
