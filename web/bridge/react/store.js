// @ts-check

/**
 * A value that components read with `useSyncExternalStore`.
 * @template Value
 */
export class Store {
  #value;
  #start;
  /** @type {(() => void) | undefined} */ #stop;
  /** @type {Set<() => void>} */ #listeners = new Set();

  /**
   * @param {Value} value
   * @param {(store: Store<Value>) => () => void} [start] begins to update the value when the first component reads it, and returns a function
   *   that ends this
   */
  constructor(value, start = () => () => {}) {
    this.#value = value;
    this.#start = start;
  }

  get = () => this.#value;

  /** @param {Value} value */
  set(value) {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  /** @param {() => void} listener */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    this.#stop ??= this.#start(this);
    return () => {
      this.#listeners.delete(listener);
      afterCommit(() => {
        if (this.#listeners.size > 0) return;
        this.#stop?.();
        this.#stop = undefined;
      });
    };
  };
}

/**
 * Runs a function when React has finished the commit. Until then, an effect that has ended may begin again: in StrictMode, after a change of the code
 * in development, and in a component that replaces another one.
 * @param {() => void} body
 */
export function afterCommit(body) {
  queueMicrotask(body);
}

/** @type {WeakMap<object, Map<string, any>>} */
const byClient = new WeakMap();

/**
 * Returns what the components of a client share under a name.
 * @template Value
 * @param {object} client
 * @param {string} name
 * @param {(forget: () => void) => Value} create gets a function after which the next component creates another value
 * @returns {Value}
 */
export function shared(client, name, create) {
  const values = byClient.get(client) ?? new Map();
  byClient.set(client, values);
  if (!values.has(name)) values.set(name, create(() => values.delete(name)));
  return values.get(name);
}

/**
 * A host, task or method of a client that one component has. Another component can replace it, in the same commit too, without a request.
 * @template Handler
 */
export class Registration {
  /** @type {{current: Handler} | undefined} the latest handler of the component */ #owner;
  #isLeaving = false;
  /** @type {(() => unknown) | undefined} */ #undo;
  /** @type {Promise<unknown> | undefined} settles when the client has removed the last registration */ #removed;

  /** @returns {Handler} */
  get handler() {
    return /** @type {{current: Handler}} */ (this.#owner).current;
  }

  /**
   * @param {{current: Handler}} owner
   * @param {() => () => unknown} register registers with the client, and returns the function that removes the registration
   * @returns {() => void}
   */
  keep(owner, register) {
    // The client rejects a second registration that is equal.
    if (this.#owner !== undefined && !this.#isLeaving) register();
    this.#owner = owner;
    this.#isLeaving = false;
    const begin = () => {
      if (this.#owner === owner && !this.#isLeaving) this.#undo ??= register();
    };
    if (this.#removed === undefined) begin();
    else void this.#removed.then(begin);
    return () => {
      this.#isLeaving = true;
      afterCommit(() => {
        if (this.#owner === owner && this.#isLeaving) this.#end();
      });
    };
  }

  #end() {
    this.#owner = undefined;
    this.#isLeaving = false;
    const undo = this.#undo;
    this.#undo = undefined;
    if (undo === undefined) return;
    // The client's `error` event reports a registration that the server has rejected.
    const removed = (async () => undo())().catch(() => {});
    this.#removed = removed;
    void removed.then(() => {
      if (this.#removed === removed) this.#removed = undefined;
    });
  }
}
