// @ts-check

/** @typedef {import("./types/api.js").OpenOptions} OpenOptions */
/** @typedef {import("./types/api.js").Params} Params */

/**
 * A builder for a call. Each step returns a new builder, and only the last step makes the call. A builder can therefore be stored,
 * varied and reused.
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
   * Sets one or several parameters; the last value of a name applies.
   * @param {string | Params} name
   * @param {unknown} [value]
   */
  with(name, value) {
    return new CallBuilder(this.#bridge, this.#uri, { ...this.#params, ...members(name, value) }, this.#options);
  }

  /**
   * Sets one or several presentation values, such as `animated`; the last value of a name applies.
   * @param {string | Params} name
   * @param {unknown} [value]
   */
  exts(name, value) {
    return this.#set({ exts: { ...this.#options.exts, ...members(name, value) } });
  }

  /** @param {import("./types/api.js").Style} style how the page enters the stack; `invoke` ignores it */
  style(style) {
    return this.#set({ style });
  }

  /** @param {string} page the id of the page that opens */
  from(page) {
    return this.#set({ from: page });
  }

  /** @param {number} timeout milliseconds within which the page must be shown or the task must return */
  timeout(timeout) {
    return this.#set({ timeout });
  }

  /** @param {AbortSignal} signal cancels the call when it is aborted */
  signal(signal) {
    return this.#set({ signal });
  }

  /** @param {string} key the idempotency key: the session makes one call for each key */
  key(key) {
    return this.#set({ key });
  }

  /** @param {(value: any) => void} onProgress receives each progress value. For an opened page the first one is `{opened: {page}}` */
  onProgress(onProgress) {
    return this.#set({ onProgress });
  }

  /** Calls the bridge's `open` with these arguments. */
  open() {
    return this.#bridge.open(this.#uri, this.#params, this.#options);
  }

  /** Calls the bridge's `invoke` with these arguments. */
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
