// @ts-check
import { FakePage, FakeStorage, within } from "./fake-page.js";

/** The locks of an origin, for all its pages. */
export class FakeLocks {
  /** @type {Map<string, object>} the holder of each lock */ #holders = new Map();
  /** @type {{name: string, owner: object, grant: () => void}[]} */ #waiting = [];

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
          const grant = async () => {
            this.#holders.set(name, owner);
            const value = await body({ name });
            if (this.#holders.get(name) === owner) this.#free(name);
            resolve(value);
          };
          if (!this.#holders.has(name)) return void grant();
          if (ifAvailable) return resolve(body(null));
          const waiting = { name, owner, grant };
          this.#waiting.push(waiting);
          signal?.addEventListener("abort", () => {
            this.#waiting = this.#waiting.filter((each) => each !== waiting);
            reject(Object.assign(new Error("aborted"), { name: "AbortError" }));
          });
        }),
    };
  }

  /** @param {object} owner the document that was closed */
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
    next?.grant();
  }
}

/** A tab with a page that can be reloaded. */
export class FakeTab extends FakePage {
  #target = new EventTarget();
  #locks;
  /** How the current document was loaded. */
  type = "navigate";
  document = emptyDocument();

  /**
   * @param {string} url
   * @param {FakeLocks | undefined} locks `undefined`: the browser has no locks
   * @param {FakeStorage} [storage]
   * @param {boolean} [hasKeys]
   */
  constructor(url, locks, storage, hasKeys) {
    super(url, storage, hasKeys);
    this.#locks = locks;
  }

  addEventListener = (/** @type {string} */ type, /** @type {any} */ listener, /** @type {any} */ options) => this.#target.addEventListener(type, listener, options);

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
   * Closes the document.
   * @param {{crashes?: boolean}} how `crashes`: without events
   * @returns {() => void} releases its locks, which can happen after the next load
   */
  leave({ crashes = false } = {}) {
    if (!crashes) this.dispatch(new Event("pagehide"));
    this.#target = new EventTarget();
    const { document } = this;
    this.document = emptyDocument();
    this.type = "reload";
    // Objects of the previous load that still exist in this process write to a storage that is never read.
    this.sessionStorage = Object.assign(new FakeStorage(), this.sessionStorage);
    return () => this.#locks?.leave(document);
  }

  /** @param {{crashes?: boolean}} [how] */
  unload(how) {
    this.leave(how)();
  }

  /**
   * Runs a script in the page.
   * @template Value
   * @param {() => Value} body
   */
  run(body) {
    return within(this, body);
  }

  /** The same page in another tab, duplicated by the user, with a copy of its storage. */
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
