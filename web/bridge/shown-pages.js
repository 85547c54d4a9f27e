// @ts-check
import { cancelled, failure, hostFailure } from "./errors.js";
import { checkHost } from "./registry.js";
import { schemeOf } from "./uri.js";

/** @typedef {import("./types.js").Page} Page */
/** @typedef {import("./types.js").PageHost} PageHost */
/** @typedef {import("./types.js").MethodCall} MethodCall */

/** @typedef {{page: Page, host: PageHost, opened: Promise<boolean>, isOpen: boolean, abort: AbortController}} Shown */

/** The pages that the hosts of this client show now. */
export class ShownPages {
  /**
   * By id, those still opening included.
   * @type {Map<string, Shown>}
   */
  #pages = new Map();
  #hosts;
  /** Told of each host of pages that comes. */
  #added = () => {};
  /** Ends a comparison with the server's picture. */
  #abandon = () => {};
  /**
   * Pages that were closed during such a comparison, before they were shown again.
   * @type {Set<string> | undefined}
   */
  #gone;

  /** @param {import("./registry.js").Registry<PageHost>} hosts */
  constructor(hosts) {
    this.#hosts = hosts;
  }

  /**
   * @param {string} id
   * @returns {{page: Page, host: PageHost} | undefined} one that is shown, or opening
   */
  get(id) {
    return this.#pages.get(id);
  }

  get isEmpty() {
    return this.#pages.size === 0;
  }

  /** A host has come. */
  added() {
    this.#added();
  }

  /**
   * Opens a page as the server asks for it.
   * @param {any} params of `page.open`
   * @param {MethodCall} call
   */
  async open({ page, host }, call) {
    return this.#open(checkPage(page), this.#hosts.find(checkHost(host)), call);
  }

  /**
   * Closes one as the server asks for it. Of a page that is gone already it is true that it is closed.
   * @param {any} params of `page.close`
   */
  async close({ page: id, reason, exts }) {
    if (typeof id !== "string") throw invalid("page.close needs the id of a page");
    const shown = this.#pages.get(id);
    if (shown === undefined) {
      // It may be about to be shown again.
      this.#gone?.add(id);
      return null;
    }
    this.#forget(shown);
    await takeAway(shown, reason, exts ?? {});
    return null;
  }

  /**
   * Gives a page that is shown already to its host, where there is one.
   * @param {Page} page
   * @param {PageHost} [host] the last registered of the page's scheme, where none is given
   */
  adopt(page, host = this.#hosts.ofScheme(schemeOf(page.uri))) {
    if (host !== undefined) this.#pages.set(page.id, { page, host, opened: Promise.resolve(true), isOpen: true, abort: new AbortController() });
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
   * @returns {string[]} their ids
   */
  lost(failed) {
    const lost = [...this.#pages.values()];
    // A new session may give their ids to its own pages.
    this.#pages.clear();
    this.#abandon();
    for (const shown of lost) takeAway(shown, "failed").catch(failed);
    return lost.map(({ page }) => page.id);
  }

  /**
   * Compares the pages that are shown with the server's picture, after a reload of this page or a restart of the server: what is
   * missing is shown again, what is gone there is taken away. A host may come a little later than the connection.
   * @param {(params: {pages: string[], failed?: string[]}) => Promise<any>} ask `page.sync`
   * @param {object} how
   * @param {(error: unknown) => void} how.failed told of each page that could not be shown again, or taken away
   * @param {Promise<unknown>} how.late when no host is waited for any more
   * @param {import("./types.js").Deputy} how.own what acts for this client itself, since who had asked for a page waits no longer
   */
  async sync(ask, { failed, late, own }) {
    let isLost = false;
    // One that a restart came upon would go by a picture that is no more.
    this.#abandon();
    const gone = (this.#gone = new Set());
    const over = Promise.race([late, new Promise((resolve) => (this.#abandon = () => resolve((isLost = true))))]);
    const { open, closed } = await ask({ pages: this.#shown });
    for (const id of closed) await this.close({ page: id, reason: "failed" }).catch(failed);
    /** @type {string[]} */
    const lost = [];
    for (const asked of open) {
      const page = checkPage(asked.page);
      if (this.#pages.has(page.id)) continue;
      const host = await this.#coming(checkHost(asked.host), over);
      if (isLost) return;
      if (gone.has(page.id)) continue;
      try {
        await this.#open(page, host, { ...own, signal: new AbortController().signal, progress: () => {}, restored: true });
      } catch (error) {
        lost.push(page.id);
        failed(error);
      }
    }
    if (lost.length > 0) await ask({ pages: this.#shown, failed: lost });
  }

  /**
   * @param {import("./registry.js").ChosenHost} chosen
   * @param {Promise<unknown>} late
   */
  async #coming(chosen, late) {
    let isLate = false;
    const end = late.then(() => (isLate = true));
    for (;;) {
      const host = this.#hosts.find(chosen);
      if (host !== undefined || isLate) return host;
      await Promise.race([end, new Promise((resolve) => (this.#added = () => resolve(undefined)))]);
    }
  }

  /** The ids of the pages that are shown; those that are opening do not lie on the server's stack. */
  get #shown() {
    return [...this.#pages.values()].filter(({ isOpen }) => isOpen).map(({ page }) => page.id);
  }

  /**
   * @param {Page} page
   * @param {PageHost | undefined} host
   * @param {MethodCall & {restored?: true}} call `signal`: the server no longer wants the page
   */
  async #open(page, host, { signal, progress, ...deputy }) {
    if (host === undefined) throw failure("hostAbsent", `this client shows no ${page.uri}`);
    const abort = new AbortController();
    signal.addEventListener("abort", () => abort.abort(signal.reason), { once: true });
    const opening = (async () => host.open(page, { signal: abort.signal, ...deputy }))();
    const opened = opening.then(() => true, () => false);
    const shown = { page, host, opened, isOpen: false, abort };
    this.#pages.set(page.id, shown);
    try {
      await opening;
    } catch (error) {
      this.#forget(shown);
      throw signal.aborted ? cancelled() : hostFailure(error);
    }
    shown.isOpen = true;
    if (!signal.aborted) return null;
    // Nobody waits for this page any more: left alone it would stay in sight without being in the stack.
    if (this.#forget(shown)) await takeAway(shown, "cancelled");
    throw cancelled();
  }

  /**
   * @param {Shown} shown
   * @returns {boolean} whether it was there
   */
  #forget(shown) {
    return this.#pages.get(shown.page.id) === shown && this.#pages.delete(shown.page.id);
  }
}

/**
 * Ends a page's opening, or closes it when it is shown.
 * @param {Shown} shown
 * @param {import("./types.js").Outcome["outcome"]} reason
 * @param {import("./types.js").Params} [exts] of what closed it
 */
async function takeAway({ page, host, opened, abort }, reason, exts = {}) {
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
  throw invalid("page.open needs a page with id and uri");
}

/** @param {string} message */
function invalid(message) {
  return failure("invalidParams", message);
}
