// @ts-check

/** @typedef {import("./types.js").OpenOptions} OpenOptions */
/** @typedef {import("./types.js").Params} Params */

/**
 * A call that is put together step by step. Each step gives a new builder and nothing is called before the last one, so
 * that a builder may be kept, varied and used again.
 */
export class CallBuilder {
  #bridge;
  #uri;
  /** @type {Params | undefined} */ #params;
  /** @type {OpenOptions} */ #options;

  /**
   * @param {Pick<import("./bridge.js").Bridge, "open" | "invoke">} bridge
   * @param {string} uri
   * @param {Params} [params]
   * @param {OpenOptions} [options]
   */
  constructor(bridge, uri, params, options = {}) {
    this.#bridge = bridge;
    this.#uri = uri;
    this.#params = params;
    this.#options = options;
  }

  /**
   * Sets a parameter, or several; the last value of a name counts.
   * @param {string | Params} name
   * @param {unknown} [value]
   */
  with(name, value) {
    return new CallBuilder(this.#bridge, this.#uri, { ...this.#params, ...members(name, value) }, this.#options);
  }

  /**
   * Sets one, or several, of what is no business data, `animated` for instance; the last value of a name counts.
   * @param {string | Params} name
   * @param {unknown} [value]
   */
  exts(name, value) {
    return this.#set({ exts: { ...this.#options.exts, ...members(name, value) } });
  }

  /** @param {import("./types.js").Style} style how an opened page takes its place; what is invoked takes none */
  style(style) {
    return this.#set({ style });
  }

  /** @param {string} page the id of the page that opens */
  from(page) {
    return this.#set({ from: page });
  }

  /** @param {number} timeout milliseconds until the page is shown, or the task done */
  timeout(timeout) {
    return this.#set({ timeout });
  }

  /** @param {AbortSignal} signal aborting it cancels the call */
  signal(signal) {
    return this.#set({ signal });
  }

  /** @param {string} key under which the session makes the call once */
  key(key) {
    return this.#set({ key });
  }

  /** @param {(value: any) => void} onProgress gets each progress value; of an opened page first `{opened: {page}}` */
  onProgress(onProgress) {
    return this.#set({ onProgress });
  }

  /** As `open` of the bridge with the same arguments. */
  open() {
    return this.#bridge.open(this.#uri, this.#params, this.#options);
  }

  /** As `invoke` of the bridge with the same arguments. */
  invoke() {
    const { style, from, ...options } = this.#options;
    return this.#bridge.invoke(this.#uri, this.#params, options);
  }

  /** @param {OpenOptions} options */
  #set(options) {
    return new CallBuilder(this.#bridge, this.#uri, this.#params, { ...this.#options, ...options });
  }
}

/**
 * @param {string | Params} name
 * @param {unknown} value
 * @returns {Params}
 */
function members(name, value) {
  return typeof name === "string" ? { [name]: value } : name;
}
