// @ts-check
import { failure, hostFailure } from "./errors.js";
import { schemeOf } from "./pattern.js";
import { Registry } from "./registry.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").TaskHandler} TaskHandler */
/** @typedef {import("./serving.js").RequestContext} RequestContext */
/** @typedef {import("./serving.js").RequestHandler} RequestHandler */
/** @typedef {import("./registry.js").Declaration} Declaration */

/** What this client shows and runs for others, and the pages that it shows now. */
export class Hosting {
  /** @type {Registry<PageHost>} */ #hosts = new Registry();
  /** @type {Registry<TaskHandler>} */ #tasks = new Registry();
  /**
   * By id, those still opening included.
   * @type {Map<string, {page: Page, host: PageHost, opened: Promise<boolean>, abort: AbortController}>}
   */
  #pages = new Map();

  /**
   * What it answers to the server, by method.
   * @type {Map<string, RequestHandler>}
   */
  requests = new Map(
    /** @type {[string, RequestHandler][]} */ ([
      ["page.open", (params, { signal }) => this.#open(checkPage(params.page), signal)],
      ["page.close", (params) => this.#close(params.page, params.reason)],
      ["task.run", (params, context) => this.#run(params, context)],
    ]),
  );

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
    if (host.patterns !== undefined) declaration.patterns = [...host.patterns];
    return { declaration, remove: this.#hosts.add(declaration, host) };
  }

  /**
   * @param {string} pattern a URI, or a pattern of URIs
   * @param {TaskHandler} handler
   */
  addTask(pattern, handler) {
    if (typeof handler !== "function") throw invalid(`the task ${pattern} needs a function`);
    /** @type {Declaration} */
    const declaration = { patterns: [pattern], kind: "task" };
    return { declaration, remove: this.#tasks.add(declaration, handler) };
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
   * @param {Page} page
   * @param {AbortSignal} signal the server no longer wants the page
   */
  async #open(page, signal) {
    const host = this.#hosts.find(page.uri);
    if (host === undefined) throw failure("hostAbsent", `this client shows no ${page.uri}`);
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
    const opening = (async () => host.open(page, { signal: abort.signal }))();
    const opened = opening.then(() => true, () => false);
    this.#pages.set(page.id, { page, host, opened, abort });
    try {
      await opening;
    } catch (error) {
      this.#pages.delete(page.id);
      throw signal.aborted ? failure("cancelled") : hostFailure(error);
    }
    if (!signal.aborted) return null;
    // Nobody waits for this page any more: left alone it would stay in sight without being in the stack.
    await this.#close(page.id, "cancelled");
    throw failure("cancelled");
  }

  /**
   * Of a page that is gone already it is true that it is closed.
   * @param {unknown} id
   * @param {unknown} reason
   */
  async #close(id, reason) {
    if (typeof id !== "string") throw invalid("page.close needs the id of a page");
    const shown = this.#pages.get(id);
    if (shown === undefined) return null;
    shown.abort.abort(failure("cancelled"));
    const opened = await shown.opened;
    if (this.#pages.get(id) !== shown) return null;
    this.#pages.delete(id);
    if (!opened) return null;
    try {
      await shown.host.close(shown.page, String(reason));
    } catch (error) {
      throw hostFailure(error);
    }
    return null;
  }

  /**
   * @param {any} params
   * @param {RequestContext} context
   */
  async #run({ uri, params, exts }, { signal, progress }) {
    if (typeof uri !== "string") throw invalid("task.run needs a uri");
    const handler = this.#tasks.find(uri);
    if (handler === undefined) throw failure("hostAbsent", `this client runs no ${uri}`);
    try {
      return await handler(params ?? {}, { uri, exts: exts ?? {}, signal, progress });
    } catch (error) {
      throw signal.aborted ? failure("cancelled") : hostFailure(error);
    }
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

/** @param {string} message */
function invalid(message) {
  return failure("invalidParams", message);
}
