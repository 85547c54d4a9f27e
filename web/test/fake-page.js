// @ts-check

/** The storage of a tab for all its frames of one origin, until the tab closes. */
export class FakeStorage {
  /** @param {string} key */
  getItem(key) {
    return Object.hasOwn(this, key) ? Reflect.get(this, key) : null;
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  setItem(key, value) {
    Reflect.set(this, key, value);
  }

  /** @param {string} key */
  removeItem(key) {
    Reflect.deleteProperty(this, key);
  }
}

let lastKey = 0;

/**
 * A frame of a page as far as invitations need it: its URL, its history and the storage that it shares with others.
 * @typedef {{url: string, state: any, key: string, document: number}} Entry
 */
export class FakePage {
  /** @type {Entry[]} */ #entries = [];
  #index = -1;
  #documents = 0;
  /** Whether scripts can change the URL. */
  mayChange = true;

  /**
   * @param {string} url
   * @param {FakeStorage} [sessionStorage]
   * @param {boolean} [hasKeys] whether its browser has the Navigation API
   */
  constructor(url, sessionStorage = new FakeStorage(), hasKeys = true) {
    this.sessionStorage = sessionStorage;
    if (hasKeys) this.navigation = this.#navigation();
    this.navigate(url);
  }

  /** @returns {any} */
  get location() {
    return new URL(this.#current.url);
  }

  /** @returns {any} */
  get history() {
    const page = this;
    return {
      get state() {
        return structuredClone(page.#current.state);
      },
      pushState: (/** @type {any} */ state, /** @type {string} */ _, /** @type {string | undefined} */ url) =>
        this.#push({ ...this.#changed(state, url), key: newKey() }),
      replaceState: (/** @type {any} */ state, /** @type {string} */ _, /** @type {string | undefined} */ url) =>
        Object.assign(this.#current, this.#changed(state, url)),
    };
  }

  /** @type {unknown} */
  waybridgeInvitation;

  /**
   * Loads another document.
   * @param {string} url
   */
  navigate(url) {
    this.#documents += 1;
    this.#push({ url: new URL(url, this.#entries[this.#index]?.url).href, state: null, key: newKey(), document: this.#documents });
  }

  /** @param {number} distance in the history */
  move(distance) {
    this.#index += distance;
  }

  get #current() {
    return this.#entries[this.#index];
  }

  /** @param {Entry} entry */
  #push(entry) {
    this.#entries.splice(this.#index + 1, Infinity, entry);
    this.#index += 1;
  }

  /**
   * @param {any} state
   * @param {string | undefined} url
   */
  #changed(state, url = this.#current.url) {
    if (!this.mayChange) throw new Error("SecurityError");
    return { ...this.#current, state: structuredClone(state), url: new URL(url, this.#current.url).href };
  }

  #navigation() {
    const page = this;
    const entry = (/** @type {Entry} */ { key, document }, /** @type {number} */ index) =>
      ({ key, index, sameDocument: document === page.#current.document });
    return {
      entries: () => page.#entries.map(entry),
      get currentEntry() {
        return entry(page.#current, page.#index);
      },
    };
  }
}

/**
 * Runs a script in a page. The properties of the page are global for the script.
 * @template Value
 * @param {object} page such as a `FakePage`
 * @param {() => Value} body
 * @returns {Value}
 */
export function within(page, body) {
  const names = [
    "location", "history", "sessionStorage", "navigation", "origin", "waybridgeInvitation", "document", "navigator", "performance",
    "addEventListener", "removeEventListener",
  ];
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  for (const name of names) {
    const value = Reflect.get(page, name);
    if (value === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  try {
    return body();
  } finally {
    names.forEach((name, index) => {
      const descriptor = before[index];
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    });
  }
}

function newKey() {
  lastKey += 1;
  return `key-${lastKey}`;
}
