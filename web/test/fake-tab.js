// @ts-check
import { FakePage, FakeStorage, within } from "./fake-page.js";

/** The locks of an origin, over all its pages. */
export class FakeLocks {
  /** @type {Map<string, object>} who holds each */ #holders = new Map();
  /** @type {{name: string, owner: object, take: () => void}[]} */ #waiting = [];

  /** @param {object} owner the document */
  for(owner) {
    return {
      /**
       * @param {string} name
       * @param {{signal?: AbortSignal, ifAvailable?: boolean}} options
       * @param {(lock: unknown) => unknown} body
       */
      request: (name, { signal, ifAvailable }, body) =>
        new Promise((resolve, reject) => {
          const take = async () => {
            this.#holders.set(name, owner);
            const value = await body({ name });
            if (this.#holders.get(name) === owner) this.#free(name);
            resolve(value);
          };
          if (!this.#holders.has(name)) return void take();
          if (ifAvailable) return resolve(body(null));
          const waiting = { name, owner, take };
          this.#waiting.push(waiting);
          signal?.addEventListener("abort", () => {
            this.#waiting = this.#waiting.filter((each) => each !== waiting);
            reject(Object.assign(new Error("aborted"), { name: "AbortError" }));
          });
        }),
    };
  }

  /** @param {object} owner whose document is gone */
  leave(owner) {
    this.#waiting = this.#waiting.filter((each) => each.owner !== owner);
    for (const [name, holder] of [...this.#holders]) if (holder === owner) this.#free(name);
  }

  get names() {
    return [...this.#holders.keys()];
  }

  /** @param {string} name */
  #free(name) {
    this.#holders.delete(name);
    const next = this.#waiting.find((each) => each.name === name);
    this.#waiting = this.#waiting.filter((each) => each !== next);
    next?.take();
  }
}

/** A tab with a page that can be loaded again. */
export class FakeTab extends FakePage {
  #target = new EventTarget();
  #locks;
  /** How the document that is there was loaded. */
  type = "navigate";
  document = emptyDocument();

  /**
   * @param {string} url
   * @param {FakeLocks | undefined} locks none: the browser has no such thing
   * @param {FakeStorage} [storage]
   * @param {boolean} [hasKeys]
   */
  constructor(url, locks, storage, hasKeys) {
    super(url, storage, hasKeys);
    this.#locks = locks;
  }

  addEventListener = (/** @type {string} */ type, /** @type {any} */ listener) => this.#target.addEventListener(type, listener);

  removeEventListener = (/** @type {string} */ type, /** @type {any} */ listener) => this.#target.removeEventListener(type, listener);

  get navigator() {
    return { locks: this.#locks?.for(this.document) };
  }

  get performance() {
    return { getEntriesByType: () => [{ type: this.type }] };
  }

  /** @param {Event} event of the window */
  dispatch(event) {
    this.#target.dispatchEvent(event);
  }

  /**
   * The document goes.
   * @param {{crashes?: boolean}} how `crashes`: without a word
   * @returns {() => void} the end of its locks, which may come later than the next load
   */
  leave({ crashes = false } = {}) {
    if (!crashes) this.dispatch(new Event("pagehide"));
    this.#target = new EventTarget();
    const { document } = this;
    this.document = emptyDocument();
    this.type = "reload";
    // What is left of the load before in this process writes into what nobody reads.
    this.sessionStorage = Object.assign(new FakeStorage(), this.sessionStorage);
    return () => this.#locks?.leave(document);
  }

  /** @param {{crashes?: boolean}} [how] */
  unload(how) {
    this.leave(how)();
  }

  /**
   * Runs a script in it.
   * @template Value
   * @param {() => Value} body
   */
  run(body) {
    return within(this, body);
  }

  /** The same page in another tab, as the user duplicates it: with a copy of what it has kept. */
  duplicate() {
    const storage = Object.assign(new FakeStorage(), this.sessionStorage);
    const other = new FakeTab(this.location.href, this.#locks, storage, false);
    other.navigation = this.navigation;
    return other;
  }
}

function emptyDocument() {
  return Object.assign(new EventTarget(), { visibilityState: "visible" });
}
