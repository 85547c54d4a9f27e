// @ts-check
import { codeOf } from "../codes.js";
import { bridgeError, failure } from "../errors.js";
import { split, withoutDots } from "../uri.js";

/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").Outcome} Outcome */
/** @typedef {import("../types.js").Params} Params */
/** @typedef {{data?: any, code?: number, message?: string}} Result */
/** @typedef {{page: Page, outcome: Promise<Outcome>, settle: (outcome: Outcome) => void}} Entry */

/**
 * How pages close that close together.
 * @typedef {object} Ending
 * @property {Outcome["outcome"]} lowest of the lowest of them, which gets the result
 * @property {Outcome["outcome"]} others
 * @property {Result} [result]
 * @property {Params} [exts] of what closes them
 */

/** The open pages of a mocked app, bottom first: one stack, without modal ones on top. */
export class MockStack {
  /** @type {Entry[]} */ #entries = [];
  #events;

  /**
   * @param {object} events
   * @param {(page: Page, reason: Outcome["outcome"], exts: Params) => void} events.closed `exts`: of
   *   what closed it
   * @param {(page: Page) => void} events.resumed
   */
  constructor(events) {
    this.#events = events;
  }

  get pages() {
    return this.#entries.map(({ page }) => page);
  }

  /**
   * Shows a page, in place of others where its style says so.
   * @param {Page} page
   * @returns {Promise<Outcome>}
   */
  add(page) {
    /** @type {Ending} */
    const ending = { lowest: "replaced", others: "replaced", exts: page.exts };
    if (page.style === "replace") this.#remove(this.#entries.length - 1, ending);
    if (page.style === "root") this.#remove(0, ending);
    /** @type {(outcome: Outcome) => void} */
    let settle = () => {};
    /** @type {Promise<Outcome>} */
    const outcome = new Promise((resolve) => (settle = resolve));
    this.#entries.push({ page, outcome, settle });
    return outcome;
  }

  /**
   * Goes back to a page that is there.
   * @param {string} uri
   * @param {Params} [exts]
   * @returns {{page: Page, outcome: Promise<Outcome>} | undefined}
   */
  popTo(uri, exts) {
    const index = this.#find(uri);
    if (index < 0) return undefined;
    this.#close(index + 1, "dismissed", undefined, exts);
    return this.#entries[index];
  }

  /** @param {string} reference */
  contains(reference) {
    return this.#entries[this.#find(reference)]?.page ?? null;
  }

  /**
   * The pages that would close.
   * @param {any} params as of `navigation.back`, or the id of a page that finishes
   */
  closing(params) {
    return this.pages.slice(typeof params === "string" ? this.#index(params) : this.#end(params));
  }

  /**
   * @param {any} params as of `navigation.back`
   * @returns {{page: string | null, closed: string[]}}
   */
  back(params) {
    const { result, exts } = params;
    const index = this.#end(params);
    if (result !== undefined && index >= this.#entries.length) throw failure("conflict", "no page closes: the result would be lost");
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

  /**
   * From where on pages close.
   * @param {any} params as of `navigation.back`
   */
  #end({ count = 1, to, before, root }) {
    if (root) return 1;
    if (to !== undefined) return this.#index(to) + 1;
    return Math.max(1, before === undefined ? this.#entries.length - count : this.#index(before));
  }

  /**
   * @param {number} index the lowest page that closes, and to which the outcome belongs
   * @param {Outcome["outcome"]} outcome
   * @param {Result} [result]
   * @param {Params} [exts]
   */
  #close(index, outcome, result, exts) {
    const closed = this.#remove(index, { lowest: outcome, others: "dismissed", result, exts });
    const top = this.#entries.at(-1)?.page;
    if (closed.length > 0 && top !== undefined) this.#events.resumed(top);
    return { page: top?.id ?? null, closed };
  }

  /**
   * @param {number} index
   * @param {Ending} ending
   */
  #remove(index, { lowest, others, result, exts }) {
    const { data = null, code = 0, message = "" } = result ?? {};
    const removed = this.#entries.splice(Math.max(0, index)).reverse();
    removed.forEach(({ page, settle }, position) => {
      const isLowest = position === removed.length - 1;
      const outcome = isLowest ? lowest : others;
      this.#events.closed(page, outcome, exts ?? {});
      settle(isLowest ? { outcome, code, message, data } : { outcome, code: 0, message: "", data: null });
    });
    return removed.map(({ page }) => page.id);
  }

  /** @param {string} reference */
  #index(reference) {
    const index = this.#find(reference);
    if (index >= 0) return index;
    throw bridgeError(codeOf.noRoute, `no page ${reference} is open`, { data: { kind: "notOnStack", retryable: false } });
  }

  /** @param {string} reference an id, or a URI, of which query and fragment do not count */
  #find(reference) {
    const target = place(reference);
    const is = (/** @type {Page} */ page) => (reference.includes(":") ? place(page.uri) === target : page.id === reference);
    return this.pages.map(is).lastIndexOf(true);
  }
}

/** @param {string} uri */
function place(uri) {
  const { scheme, authority, path } = split(withoutDots(uri));
  return JSON.stringify([scheme, authority?.toLowerCase(), path]);
}
