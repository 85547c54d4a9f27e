// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../values/errors.js";
import { split, normalForm } from "../uri/uri.js";

/** @typedef {import("../types/api.js").Page} Page */
/** @typedef {import("../types/api.js").Outcome} Outcome */
/** @typedef {import("../types/api.js").Params} Params */
/** @typedef {{data?: any, code?: number, message?: string}} Result */
/** @typedef {{page: Page, outcome: Promise<Outcome>, settle: (outcome: Outcome) => void, result?: Result}} Entry `result`: what the page has set before it closes */

/**
 * How pages close that one operation closes.
 * @typedef {object} Ending
 * @property {Outcome["outcome"]} lowest the outcome of the lowest page, which gets the result
 * @property {Outcome["outcome"]} others the outcome of the other pages
 * @property {Result} [result]
 * @property {Params} [exts] those of the operation
 */

/** The open pages of a mocked app, bottom first. It has no modal stacks. */
export class MockStack {
  /** @type {Entry[]} */ #entries = [];
  /** @type {Page | undefined} the page on top when the last operation had ended */ #top;
  #events;

  /**
   * @param {object} events
   * @param {(page: Page, reason: Outcome["outcome"], exts: Params) => void} events.closed `exts`: those of the operation that closed it
   * @param {(page: Page, changes: import("../types/api.js").PageChanges) => void} events.resumed a page is on top again, or a call has changed it
   * @param {(page: Page) => void} events.seen the visibility of a page has changed
   */
  constructor(events) {
    this.#events = events;
  }

  get pages() {
    return this.#entries.map(({ page }) => page);
  }

  /**
   * Adds a page to the stack. It replaces other pages if its style says so.
   * @param {Page} page
   * @returns {Promise<Outcome>}
   */
  add(page) {
    /** @type {Ending} */
    const ending = { lowest: "replaced", others: "replaced", exts: page.exts };
    if (page.style === "replace") this.#remove(this.#entries.length - 1, ending);
    if (page.style === "root") this.#remove(0, ending);
    return this.#push(page);
  }

  /**
   * @param {Page} page
   * @returns {Promise<Outcome>}
   */
  #push(page) {
    /** @type {(outcome: Outcome) => void} */
    let settle = () => {};
    /** @type {Promise<Outcome>} */
    const outcome = new Promise((resolve) => (settle = resolve));
    this.#entries.push({ page, outcome, settle });
    this.#compareTop();
    return outcome;
  }

  /**
   * Goes back to a page on the stack.
   * @param {string} uri
   * @param {import("../types/api.js").PageChanges} changes what the call has changed of the page
   * @param {Params} exts those of the call
   * @returns {{page: Page, outcome: Promise<Outcome>} | undefined}
   */
  popTo(uri, changes, exts) {
    const entry = this.#entries[this.#find(uri)];
    if (entry === undefined) return undefined;
    const closed = this.#remove(this.#entries.indexOf(entry) + 1, { lowest: "dismissed", others: "dismissed", exts });
    Object.assign(entry.page, changes);
    if (closed.length > 0 || Object.keys(changes).length > 0) this.#events.resumed(entry.page, changes);
    this.#compareTop();
    return entry;
  }

  /** @param {Page} page */
  visibility(page) {
    return page === this.#entries.at(-1)?.page ? "shown" : "hidden";
  }

  /** @param {string} reference */
  contains(reference) {
    if (reference === "") throw failure("invalidParams", "navigation.contains needs a reference to a page, but it is empty");
    return this.#entries[this.#find(reference)]?.page ?? null;
  }

  /**
   * Returns the pages that an operation would close.
   * @param {any} params the params of `navigation.back`, or the id of a page that finishes
   */
  closing(params) {
    return this.pages.slice(typeof params === "string" ? this.#index(params) : this.#end(params));
  }

  /**
   * Returns the pages that the opening of a page would close.
   * @param {import("../types/api.js").Style} style
   * @param {string} uri
   */
  closedByOpening(style, uri) {
    const index = { root: 0, replace: this.#entries.length - 1, popTo: this.#find(uri) + 1 }[/** @type {string} */ (style)];
    return index === undefined || (style === "popTo" && index === 0) ? [] : this.pages.slice(Math.max(0, index));
  }

  /**
   * Returns the pages that an edit would remove.
   * @param {import("../types/api.js").PageRange} [remove]
   */
  removedBy(remove) {
    return this.pages.slice(...this.#range(remove));
  }

  /**
   * Removes a range of pages, and puts others in its place.
   * @param {import("../types/api.js").PageRange | undefined} remove
   * @param {Page[]} pages lowest first
   * @param {Params} [exts] those of the operation
   * @returns {import("../types/api.js").NavigationChange}
   */
  edit(remove, pages, exts) {
    const [start, end] = this.#range(remove);
    const upper = this.#entries.splice(end);
    const outcome = pages.length > 0 ? "replaced" : "dismissed";
    const closed = this.#remove(start, { lowest: outcome, others: outcome, exts });
    for (const page of pages) void this.#push(page);
    this.#entries.push(...upper);
    const top = this.#entries.at(-1)?.page;
    const isResumed = upper.length > 0 ? pages.length > 0 : pages.length === 0 && closed.length > 0;
    if (isResumed && top !== undefined) this.#events.resumed(top, {});
    const change = { page: top?.id ?? null, closed };
    return pages.length > 0 ? { ...change, opened: pages.map(({ id }) => id) } : change;
  }

  /**
   * Returns the indices of the first removed page and of the first one above the range.
   * @param {import("../types/api.js").PageRange} [remove]
   * @returns {[number, number]}
   */
  #range(remove) {
    const count = this.#entries.length;
    if (remove === undefined) return [count, count];
    const { page, from = "", through, above, all } = remove;
    if (all) return [0, count];
    if (above !== undefined) return [this.#index(above) + 1, count];
    const first = this.#index(page ?? from);
    const last = page !== undefined ? first : through === undefined ? count - 1 : this.#index(through);
    return [Math.min(first, last), Math.max(first, last) + 1];
  }

  /**
   * @param {string} id
   * @param {Result} [result]
   */
  setResult(id, result) {
    this.#entries[this.#index(id)].result = result;
    return null;
  }

  /**
   * @param {any} params the params of `navigation.back`
   * @returns {{page: string | null, closed: string[]}}
   */
  back(params) {
    const { result, exts } = params;
    const index = this.#end(params);
    if (result !== undefined && index >= this.#entries.length) throw failure("conflict", "No page closes, so the result would be lost");
    return this.#close(index, result === undefined ? "dismissed" : "finished", result, exts);
  }

  /**
   * @param {string} id
   * @param {"finished" | "failed" | "cancelled"} outcome
   * @param {Result} [result]
   * @param {Params} [exts]
   */
  finish(id, outcome, result, exts) {
    return this.#close(this.#index(id), outcome, result, exts);
  }

  /** Reports the pages whose visibility an operation has changed, the lower one first. */
  #compareTop() {
    const [before, top] = [this.#top, this.#entries.at(-1)?.page];
    this.#top = top;
    if (before === top) return;
    if (before !== undefined && this.pages.includes(before)) this.#events.seen(before);
    if (top !== undefined) this.#events.seen(top);
  }

  /**
   * Returns the index of the lowest page that closes.
   * @param {any} params the params of `navigation.back`
   */
  #end({ count = 1, to, before, root }) {
    if (root) return 1;
    if (to !== undefined) return this.#index(to) + 1;
    return Math.max(1, before === undefined ? this.#entries.length - count : this.#index(before));
  }

  /**
   * @param {number} index the index of the lowest page that closes, which gets the outcome
   * @param {Outcome["outcome"]} outcome
   * @param {Result} [result]
   * @param {Params} [exts]
   */
  #close(index, outcome, result, exts) {
    const closed = this.#remove(index, { lowest: outcome, others: "dismissed", result, exts });
    const top = this.#entries.at(-1)?.page;
    if (closed.length > 0 && top !== undefined) this.#events.resumed(top, {});
    this.#compareTop();
    return { page: top?.id ?? null, closed };
  }

  /**
   * @param {number} index
   * @param {Ending} ending
   */
  #remove(index, { lowest, others, result, exts }) {
    const removed = this.#entries.splice(Math.max(0, index)).reverse();
    removed.forEach(({ page, settle, result: early }, position) => {
      const isLowest = position === removed.length - 1;
      const closing = isLowest ? lowest : others;
      const isEarly = early !== undefined && ["dismissed", "replaced"].includes(closing);
      const outcome = isEarly ? "finished" : closing;
      const { data = null, code = 0, message = "" } = (isEarly ? early : isLowest ? result : undefined) ?? {};
      this.#events.closed(page, outcome, exts ?? {});
      settle({ outcome, code, message, data });
    });
    return removed.map(({ page }) => page.id);
  }

  /** @param {string} reference */
  #index(reference) {
    const index = this.#find(reference);
    if (index >= 0) return index;
    throw bridgeError(codeOf.noRoute, `No page "${reference}" is open`, { data: { kind: "notOnStack", retryable: false } });
  }

  /** @param {string} reference an id, or a URI whose query and fragment are ignored */
  #find(reference) {
    const target = place(reference);
    const is = (/** @type {Page} */ page) => (reference.includes(":") ? place(page.uri) === target : page.id === reference);
    return this.pages.map(is).lastIndexOf(true);
  }
}

/** @param {string} uri */
function place(uri) {
  const { scheme, authority, path } = split(normalForm(uri));
  return JSON.stringify([scheme, authority?.toLowerCase(), path]);
}
