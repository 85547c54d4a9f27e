// @ts-check
import { delegation } from "../calls/delegation.js";
import { codeOf } from "../codes.js";
import { cancelled, failure, hostFailure, textOf } from "../values/errors.js";
import { checkHost } from "./host-registry.js";
import { schemeOf } from "../uri/uri.js";

/** Milliseconds after a reconnect within which the hosts of a reloaded page must be registered. */
const HOST_TIMEOUT = 10000;

/** @typedef {import("../types/api.js").Page} Page */
/** @typedef {import("../types/api.js").PageHost} PageHost */
/** @typedef {import("../types/api.js").MethodCall} MethodCall */

/** @typedef {{page: Page, host: PageHost, opened: Promise<boolean>, isOpen: boolean, abort: AbortController}} HostedPage */

/** The pages that the hosts of this client show. */
export class HostedPages {
  /**
   * By id, including pages that are opening.
   * @type {Map<string, HostedPage>}
   */
  #pages = new Map();
  #hosts;
  #client;
  /** To be called when a host of pages was added. */
  hostAdded = () => {};
  /** Cancels a comparison with the server's state. */
  #cancelSync = () => {};
  /**
   * Pages that the server closed during a comparison, before they were shown again.
   * @type {Set<string> | undefined}
   */
  #closedDuringSync;

  /**
   * @param {import("./host-registry.js").HostRegistry<PageHost>} hosts
   * @param {import("../session/client.js").Client} client
   */
  constructor(hosts, client) {
    this.#hosts = hosts;
    this.#client = client;
  }

  /**
   * @param {string} id
   * @returns {{page: Page, host: PageHost} | undefined} a page that is shown or opening
   */
  get(id) {
    return this.#pages.get(id);
  }

  get isEmpty() {
    return this.#pages.size === 0;
  }

  /**
   * Handles `page.open`.
   * @param {any} params of `page.open`
   * @param {MethodCall} call
   */
  async open({ page, host }, call) {
    return this.#open(checkPage(page), this.#hosts.find(checkHost(host)), call);
  }

  /**
   * Handles `page.close`. Closing a page that is already closed succeeds.
   * @param {any} params of `page.close`
   */
  async close({ page: id, reason, exts }) {
    if (typeof id !== "string") throw failure("invalidParams", globalThis.__waybridgeBrief ? "Invalid params" : "page.close needs the id of a page");
    const shown = this.#pages.get(id);
    if (shown === undefined) {
      // A running comparison may be about to show it again.
      this.#closedDuringSync?.add(id);
      return null;
    }
    this.#remove(shown);
    await closePage(shown, reason, exts ?? {});
    return null;
  }

  /**
   * Assigns a page that is already shown to its host, if there is one.
   * @param {Page} page
   * @param {PageHost} [host] default: the host of the page's scheme that was registered last
   */
  adopt(page, host = this.#hosts.ofScheme(schemeOf(page.uri))) {
    if (host !== undefined) this.#pages.set(page.id, { page, host, opened: Promise.resolve(true), isOpen: true, abort: new AbortController() });
  }

  /**
   * Notifies the host that its page is on top again, and of what a call has changed of it.
   * @param {any} params of `page.resume`
   */
  async resume({ page: id, ...changes }) {
    const shown = this.#pages.get(id);
    try {
      // The host may identify the page by the object.
      await shown?.host.resume?.(Object.assign(shown.page, changes), changes);
    } catch (cause) {
      this.#reportFailure("resume", cause);
    }
  }

  /**
   * Closes all pages, because the session was lost.
   * @returns {string[]} the ids of the pages
   */
  closeAll() {
    const lost = [...this.#pages.values()];
    // A new session may use their ids for its own pages.
    this.#pages.clear();
    this.#cancelSync();
    for (const shown of lost) closePage(shown, "failed").catch((cause) => this.#reportFailure("close", cause));
    return lost.map(({ page }) => page.id);
  }

  /**
   * Compares the shown pages with the server's state after a reload of this page or a restart of the server. Missing pages are shown again;
   * pages that the server no longer has are closed. A host can be registered a little later than the connection.
   */
  async sync() {
    const { bridge, clock, peer, report } = this.#client;
    const request = (/** @type {object} */ params) => peer.request("page.sync", params, { first: true });
    let isLost = false;
    // A comparison from before a restart would use an outdated state.
    this.#cancelSync();
    const closedDuringSync = (this.#closedDuringSync = new Set());
    /** @type {unknown} */
    let timer;
    const end = new Promise((resolve) => {
      timer = clock.setTimeout(() => resolve(undefined), HOST_TIMEOUT);
      this.#cancelSync = () => resolve((isLost = true));
    });
    try {
      const { open, closed } = await request({ pages: this.#shownIDs });
      for (const id of closed) await this.close({ page: id, reason: "failed" }).catch((cause) => this.#reportFailure("open", cause));
      /** @type {string[]} */
      const failed = [];
      for (const wanted of open) {
        const page = checkPage(wanted.page);
        if (this.#pages.has(page.id)) continue;
        const host = await this.#waitForHost(checkHost(wanted.host), end);
        if (isLost) return;
        if (closedDuringSync.has(page.id)) continue;
        try {
          // The original caller of the page no longer waits, so the page calls as this client itself.
          await this.#open(page, host, { ...delegation(bridge), signal: new AbortController().signal, progress: () => {}, restored: true });
        } catch (cause) {
          failed.push(page.id);
          this.#reportFailure("open", cause);
        }
      }
      if (failed.length > 0) await request({ pages: this.#shownIDs, failed });
    } catch (/** @type {any} */ error) {
      if (error.kind !== "closed" && error.code !== codeOf.outcomeUnknown) report(error);
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /**
   * @param {string} what
   * @param {unknown} cause
   */
  #reportFailure(what, cause) {
    this.#client.report(failure("internal", `${globalThis.__waybridgeBrief ? what : `The function ${what} of a host`} failed: ${textOf(cause)}`, { cause }));
  }

  /**
   * @param {import("./host-registry.js").ChosenHost} chosen
   * @param {Promise<unknown>} timeout
   */
  async #waitForHost(chosen, timeout) {
    let isTimedOut = false;
    const timedOut = timeout.then(() => (isTimedOut = true));
    for (;;) {
      const host = this.#hosts.find(chosen);
      if (host !== undefined || isTimedOut) return host;
      await Promise.race([timedOut, new Promise((resolve) => (this.hostAdded = () => resolve(undefined)))]);
    }
  }

  /** The ids of the shown pages. Pages that are opening are not yet on the server's stack. */
  get #shownIDs() {
    return [...this.#pages.values()].filter(({ isOpen }) => isOpen).map(({ page }) => page.id);
  }

  /**
   * @param {Page} page
   * @param {PageHost | undefined} host
   * @param {Omit<MethodCall, "key" | "once"> & {key?: unknown, once?: unknown, restored?: true}} call `signal` is aborted when the server cancels the opening
   */
  async #open(page, host, { signal, progress, key, once, ...delegation }) {
    if (host === undefined) throw failure("hostAbsent", globalThis.__waybridgeBrief ? "No such host" : `This client does not show "${page.uri}"`);
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
    const opening = (async () => host.open(page, { signal: abort.signal, ...delegation }))();
    const opened = opening.then(() => true, () => false);
    const shown = { page, host, opened, isOpen: false, abort };
    this.#pages.set(page.id, shown);
    try {
      await opening;
    } catch (error) {
      this.#remove(shown);
      throw signal.aborted ? cancelled() : hostFailure(error);
    }
    shown.isOpen = true;
    if (!signal.aborted) return null;
    // The opener has cancelled. Without closing it, the page would stay visible without being on the stack.
    if (this.#remove(shown)) await closePage(shown, "cancelled");
    throw cancelled();
  }

  /**
   * @param {HostedPage} shown
   * @returns {boolean} whether the page was in the list
   */
  #remove(shown) {
    return this.#pages.get(shown.page.id) === shown && this.#pages.delete(shown.page.id);
  }
}

/**
 * Aborts the opening of a page, or closes it if it is shown.
 * @param {HostedPage} shown
 * @param {import("../types/api.js").Outcome["outcome"]} reason
 * @param {import("../types/api.js").Params} [exts] from the call that closed it
 */
async function closePage({ page, host, opened, abort }, reason, exts = {}) {
  abort.abort(cancelled());
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
  throw failure("invalidParams", globalThis.__waybridgeBrief ? "Invalid params" : "page.open needs a page with id and uri");
}
