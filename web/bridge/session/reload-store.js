// @ts-check
import { codeOf } from "../codes.js";
import { attempt, bridgeError, DeclinedError } from "../values/errors.js";
import { FrameStore } from "./frame-store.js";

/** Milliseconds before a change is stored. Important changes are stored at once. */
const SAVE_DELAY = 250;
/** Milliseconds within which the previous load must release its client. A page that still runs, in another tab, does not release it. */
const CLAIM_TIMEOUT = 1000;
/** The name of the results of requests with an idempotency key. */
const RESULTS = " results";

/**
 * The state of a bridge that a page stores for its own next load.
 * @typedef {object} SavedState
 * @property {string} url the URL of the endpoint
 * @property {string} session
 * @property {string} client
 * @property {string} token
 * @property {string} epoch
 * @property {number} received the number of the last received message
 * @property {import("../calls/call.js").CallInfo[]} calls the calls without a response
 * @property {import("../hosting/host-registry.js").Declaration[]} hosts the registered hosts
 * @property {string[]} topics the subscribed topics
 */

/** @typedef {import("../calls/call.js").CallInfo} CallInfo */

/**
 * The properties of a page that it uses. Each can be missing.
 * @typedef {import("./frame-store.js").Frame & {document?: object, navigator?: {locks?: Locks},
 *   performance?: {getEntriesByType: (type: string) => any[]},
 *   addEventListener?: (type: string, listener: () => void) => void,
 *   removeEventListener?: (type: string, listener: () => void) => void}} ReloadedPage
 * @typedef {{request: (name: string, options: {signal?: AbortSignal, ifAvailable?: boolean}, held: (lock: unknown) => unknown) => Promise<unknown>}} Locks
 */

/**
 * The names of the bridges of a document: the names of their clients, in the order in which they were created.
 * @type {WeakMap<object, Set<string>>}
 */
const names = new WeakMap();

/**
 * Stores a session in `sessionStorage`, so that it survives a reload of its page. A duplicated tab gets a copy of the storage. So each running
 * page holds a lock with its client's name, and a page that cannot get the lock begins a new session.
 */
export class ReloadStore {
  #page;
  #url;
  #clock;
  #store;
  /**
   * Stores the results of requests with an idempotency key beside the session.
   * @type {import("../hosting/keyed-results.js").ResultStore}
   */
  results = {
    restore: (now) => restoredResults(this.#store.get(RESULTS), now),
    save: (entries) => {
      const ended = [...entries].filter(([, { text }]) => text !== undefined);
      this.#store.put(JSON.stringify(ended.map(([id, { text }]) => [id, text])), RESULTS);
    },
  };
  #snapshot;
  /** @type {unknown} */ #timer;
  /** @type {() => void} */ #release = () => {};
  #heldName = "";
  #name;
  #stop;
  /**
   * The state of the previous load, until this load resumes or abandons its session.
   * @type {SavedState | undefined}
   */
  saved;
  /** @type {Promise<boolean> | undefined} */ #claimed;
  /**
   * The calls of the page before its reload, including those whose response has arrived since.
   * @type {import("../types/api.js").PendingCall[]}
   */
  pending = [];

  /**
   * @param {object} place
   * @param {string} place.url the URL of the endpoint
   * @param {string} place.name distinguishes several bridges of one page, in the same way for each load
   * @param {string} [place.frame] a name of the frame that is the same after its parent has recreated it; default: a key in the document's history
   * @param {import("../connection/clock.js").Clock} clock
   * @param {() => Omit<SavedState, "url"> | undefined} snapshot returns the state to store
   * @param {ReloadedPage} page
   */
  constructor({ url, name, frame }, clock, snapshot, page) {
    // The globals are copied, because they can be replaced later.
    const { sessionStorage, history, navigation, document, navigator, performance } = page;
    this.#page = { document, navigator, performance };
    this.#url = url;
    this.#clock = clock;
    this.#snapshot = snapshot;
    this.#name = name;
    const usedNames = (document && names.get(document)) ?? new Set();
    for (let count = 2; usedNames.has(this.#name); count += 1) this.#name = `${name} ${count}`;
    if (document) names.set(document, usedNames.add(this.#name));
    this.#store = new FrameStore(`waybridge.session ${this.#name}`, { sessionStorage, history, navigation }, { key: frame, keepsKey: true });
    this.saved = this.#read();
    const onPageHide = () => this.save();
    page.addEventListener?.("pagehide", onPageHide);
    this.#stop = () => page.removeEventListener?.("pagehide", onPageHide);
  }

  /**
   * Abandons the stored state if this page must not resume it: the previous load still runs, or the page must join another session.
   * @param {string | undefined} session
   */
  async claim(session) {
    this.#claimed ??= this.#claim();
    if (!(await this.#claimed) || (session !== undefined && session !== this.saved?.session)) this.saved = undefined;
  }

  /**
   * Called when a session was opened: adopts the calls of the previous load.
   * @param {CallInfo[]} pending the calls that the server knows
   * @param {(info: CallInfo) => Promise<any>} adopt
   * @returns {SavedState | undefined} the stored state
   */
  adoptCalls(pending, adopt) {
    const { saved } = this;
    if (saved === undefined) return undefined;
    this.saved = undefined;
    const ids = new Set(pending.map(({ id }) => id));
    for (const info of [...saved.calls.filter(({ id }) => !ids.has(id)), ...pending]) {
      const { id, method, uri, key } = info;
      const result = adopt(info);
      // The page may ignore the result.
      result.catch(() => {});
      this.pending.push({ id, method, uri, key, result });
    }
    return saved;
  }

  /** Stores the current state. */
  save() {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const state = this.saved ?? this.#snapshot();
    if (state === undefined) return this.#store.remove([RESULTS]);
    this.#store.put(JSON.stringify({ url: this.#url, ...state }));
    void this.#lock(state, { ifAvailable: true });
  }

  scheduleSave() {
    this.#timer ??= this.#clock.setTimeout(() => this.save(), SAVE_DELAY);
  }

  /** @param {{forget: boolean}} how `forget`: removes the stored state, so that the next load finds nothing */
  end({ forget }) {
    if (forget) this.#store.remove([RESULTS]);
    else if (this.#timer !== undefined) this.save();
    this.#clock.clearTimeout(this.#timer);
    this.#stop();
    // Work that ends later must not be stored again.
    this.results.save = () => {};
    if (this.#page.document) names.get(this.#page.document)?.delete(this.#name);
    this.#release();
  }

  async #claim() {
    const { saved } = this;
    if (saved === undefined) return false;
    const controller = new AbortController();
    const timer = this.#clock.setTimeout(() => controller.abort(), CLAIM_TIMEOUT);
    const isHeld = await this.#lock(saved, { signal: controller.signal });
    this.#clock.clearTimeout(timer);
    return isHeld ?? this.#isReload;
  }

  /** @returns {SavedState | undefined} */
  #read() {
    const saved = attempt(() => JSON.parse(this.#store.get() ?? ""));
    const { url, session, client, token, epoch, received, calls, hosts, topics } = saved ?? {};
    const isWhole = [session, client, token, epoch].every((each) => typeof each === "string") && Number.isInteger(received);
    return isWhole && url === this.#url && [calls, hosts, topics].every(Array.isArray) ? saved : undefined;
  }

  /**
   * @param {{session: string, client: string}} state
   * @param {{signal?: AbortSignal, ifAvailable?: boolean}} how
   * @returns {Promise<boolean | undefined>} whether the lock was acquired; `undefined` if the browser has no locks
   */
  async #lock({ session, client }, how) {
    const locks = this.#page.navigator?.locks;
    const name = `waybridge ${this.#url} ${session} ${client}`;
    if (locks === undefined || name === this.#heldName) return locks && true;
    this.#release();
    this.#heldName = name;
    return new Promise((resolve) => {
      const request = locks.request(name, how, (lock) => {
        resolve(lock !== null);
        return lock === null || this.#heldName !== name ? undefined : new Promise((release) => (this.#release = () => release(undefined)));
      });
      request.catch((error) => resolve(error?.name === "AbortError" ? false : undefined));
    });
  }

  get #isReload() {
    const [entry] = this.#page.performance?.getEntriesByType("navigation") ?? [];
    return entry?.type === "reload" || entry?.type === "back_forward";
  }
}

/**
 * Returns the results of the previous load. Their lifetime begins again.
 * @param {string | undefined} stored
 * @param {number} endedAt
 * @returns {Map<string, import("../hosting/keyed-results.js").Entry>}
 */
function restoredResults(stored, endedAt) {
  const read = () => JSON.parse(stored ?? "[]").map((/** @type {[string, string]} */ [id, text]) => {
    const { value, error } = JSON.parse(text);
    const { code, message, data } = error ?? {};
    const failed = code === codeOf.noRoute ? new DeclinedError(message) : bridgeError(code, message, { data });
    const promise = error === undefined ? Promise.resolve(value) : Promise.reject(failed);
    // The request that waits for it handles its failure.
    promise.catch(() => {});
    return [id, { promise, text, endedAt }];
  });
  return new Map(attempt(read) ?? []);
}
