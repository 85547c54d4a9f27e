// @ts-check
import { encodeError } from "../calls/incoming-requests.js";
import { failure, hostFailure } from "../values/errors.js";
import { encode, sizeOf } from "../values/json-values.js";

/** Milliseconds for which a result is kept. */
const LIFETIME = 600000;
/** Maximum number of results, and of their bytes as JSON. The oldest are removed first. */
const CAPACITY = { count: 256, bytes: 1 << 20 };

/**
 * @typedef {object} Entry
 * @property {Promise<any>} promise
 * @property {string} [text] how the work ended as JSON, once it has ended: `{value}` or `{error: {code, message, data}}`
 * @property {number} [endedAt]
 */
/** @typedef {{restore: (now: number) => Map<string, Entry>, save: (entries: Map<string, Entry>) => void}} ResultStore stores results for the next load */

/**
 * The results of work that must not run twice for one idempotency key. A server can send a request with a key again if it does not know whether
 * the request was carried out.
 */
export class KeyedResults {
  /** @type {Map<string, Entry> | undefined} in the order in which the work began */ #entries;
  #clock;
  #store;

  /**
   * @param {Pick<import("../connection/clock.js").Clock, "now">} clock
   * @param {ResultStore} [store]
   */
  constructor(clock, store) {
    this.#clock = clock;
    this.#store = store;
  }

  /**
   * Returns the properties of a handler's context that are about the idempotency key of its request.
   * @param {unknown[]} handler distinguishes the handlers of this client. A request that one of them declines continues with another
   * @param {{key?: string, caller?: any}} params of the request
   * @returns {import("../types/api.js").KeyedRun}
   */
  context(handler, { key, caller } = {}) {
    const { session, guest, client, agent } = caller ?? {};
    // Guests have keys of their own: those of an agent, of a page, or of a guest without a page.
    const owner = agent?.id ? `agent ${agent.id}` : (client?.page ?? client?.id);
    const id = JSON.stringify([key, session, guest && owner, handler]);
    let isUsed = false;
    return {
      key,
      once: async (work) => {
        // A second piece of work would get the result of the first one.
        if (isUsed) throw failure("conflict", globalThis.__waybridgeBrief ? "once is used already" : "once can be called a single time for each request");
        isUsed = true;
        return key === undefined ? work() : this.#once(id, work);
      },
    };
  }

  /**
   * @param {string} id
   * @param {() => any} work
   */
  #once(id, work) {
    this.#entries ??= this.#store?.restore(this.#clock.now()) ?? new Map();
    this.#removeOld();
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = /** @type {Entry} */ ({});
      this.#entries.set(id, entry);
      entry.promise = this.#run(entry, work);
    }
    return entry.promise;
  }

  /**
   * @param {Entry} entry
   * @param {() => any} work
   */
  async #run(entry, work) {
    const fits = (/** @type {string} */ text) => sizeOf(text) <= CAPACITY.bytes;
    try {
      const value = await work();
      const text = encode({ value });
      if (!fits(text)) throw failure("tooLarge", `The result of once has more than ${CAPACITY.bytes} bytes`);
      entry.text = text;
      return value;
    } catch (error) {
      entry.text = encodeError({}, hostFailure(error), fits);
      throw error;
    } finally {
      entry.endedAt = this.#clock.now();
      this.#removeOld();
    }
  }

  /** Removes results that have expired or exceed the capacity, and stores the others. */
  #removeOld() {
    const entries = this.#entries ?? new Map();
    let count = 0;
    let bytes = 0;
    for (const [id, { text = "", endedAt }] of [...entries].reverse()) {
      count += 1;
      bytes += sizeOf(text);
      const isOld = this.#clock.now() - endedAt >= LIFETIME || count > CAPACITY.count || bytes > CAPACITY.bytes;
      if (isOld && endedAt !== undefined) entries.delete(id);
    }
    this.#store?.save(entries);
  }
}
