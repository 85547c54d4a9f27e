// @ts-check
import { FrameStore } from "./frame-store.js";

/** Milliseconds that a change may wait to be kept: what matters more is kept at once. */
const SOON = 250;
/** Milliseconds that the load before has to let go of its client; one that lives on, in another tab, does not. */
const PATIENCE = 1000;

/**
 * What a page keeps of its bridge for its own next load.
 * @typedef {object} Kept
 * @property {string} url of the endpoint
 * @property {string} session
 * @property {string} client
 * @property {string} token
 * @property {string} epoch
 * @property {number} received the last message that was taken
 * @property {import("./call.js").Asked[]} calls those that were not answered by then
 * @property {import("./registry.js").Declaration[]} hosts what the server was told
 * @property {string[]} topics what it was asked for
 */

/** @typedef {import("./call.js").Asked} Asked */

/**
 * What it needs of a page, each of which may be missing.
 * @typedef {import("./frame-store.js").Frame & {document?: object, navigator?: {locks?: Locks},
 *   performance?: {getEntriesByType: (type: string) => any[]},
 *   addEventListener?: (type: string, listener: () => void) => void,
 *   removeEventListener?: (type: string, listener: () => void) => void}} ReloadedPage
 * @typedef {{request: (name: string, options: {signal?: AbortSignal, ifAvailable?: boolean}, held: (lock: unknown) => unknown) => Promise<unknown>}} Locks
 */

/**
 * What the bridges of a document are called: by their clients' names, in the order in which they are made.
 * @type {WeakMap<object, Set<string>>}
 */
const names = new WeakMap();

/**
 * Keeps a session over the reload of its page, in `sessionStorage`. A tab that is duplicated gets a copy of that: so each
 * living page holds a lock under its client's name, and who can not get it begins a session of its own.
 */
export class ReloadStore {
  #page;
  #url;
  #clock;
  #store;
  #snapshot;
  /** @type {unknown} */ #timer;
  /** @type {() => void} */ #release = () => {};
  #held = "";
  #name;
  #stop;
  /**
   * What the load before has kept, until its session goes on here, or is given up.
   * @type {Kept | undefined}
   */
  kept;
  /** @type {Promise<boolean> | undefined} */ #claimed;
  /**
   * The calls of the page before it was loaded again, those included whose answer has come since.
   * @type {import("./types.js").PendingCall[]}
   */
  pending = [];

  /**
   * @param {object} place
   * @param {string} place.url of the endpoint
   * @param {string} place.name tells several bridges of one page apart, in the same way with each load
   * @param {string} [place.frame] what is the frame's own, even where its parent makes it anew; without, its document's history
   * @param {import("./clock.js").Clock} clock
   * @param {() => Omit<Kept, "url"> | undefined} snapshot what there is to keep
   * @param {ReloadedPage} page
   */
  constructor({ url, name, frame }, clock, snapshot, page) {
    // Where they are kept, since what is global may be another's by then.
    const { sessionStorage, history, navigation, document, navigator, performance } = page;
    this.#page = { document, navigator, performance };
    this.#url = url;
    this.#clock = clock;
    this.#snapshot = snapshot;
    this.#name = name;
    const taken = (document && names.get(document)) ?? new Set();
    for (let count = 2; taken.has(this.#name); count += 1) this.#name = `${name} ${count}`;
    if (document) names.set(document, taken.add(this.#name));
    this.#store = new FrameStore(`waybridge.session ${this.#name}`, { sessionStorage, history, navigation }, { key: frame, stays: true });
    this.kept = this.#read();
    const left = () => this.save();
    page.addEventListener?.("pagehide", left);
    this.#stop = () => page.removeEventListener?.("pagehide", left);
  }

  /**
   * Gives up what was kept where it is not this page's to go on with: where the load before is not gone, or the page is to be in
   * another session.
   * @param {string | undefined} session
   */
  async claim(session) {
    this.#claimed ??= this.#claim();
    if (!(await this.#claimed) || (session !== undefined && session !== this.kept?.session)) this.abandon();
  }

  /** Gives up what the load before has kept. */
  abandon() {
    this.kept = undefined;
  }

  /**
   * The request that goes on with the session of the load before, where there was one.
   * @param {object} open the params of `session.open`
   * @returns {[method: string, params: object] | undefined}
   */
  greeting(open) {
    if (this.kept === undefined) return undefined;
    const { client, token, epoch, received } = this.kept;
    return ["session.resume", { client, token, epoch, received, reloaded: true, open }];
  }

  /**
   * A session is open: takes up the calls of the load before.
   * @param {Asked[]} pending what the server knows of them
   * @param {(asked: Asked) => Promise<any>} adopt
   * @returns {Kept | undefined} what was kept
   */
  takeUp(pending, adopt) {
    const { kept } = this;
    if (kept === undefined) return undefined;
    this.abandon();
    const ids = new Set(pending.map(({ id }) => id));
    for (const asked of [...kept.calls.filter(({ id }) => !ids.has(id)), ...pending]) {
      const { id, method, uri, key } = asked;
      const result = adopt(asked);
      // A page need not ask for it.
      result.catch(() => {});
      this.pending.push({ id, method, uri, key, result });
    }
    return kept;
  }

  /** Keeps what there is now. */
  save() {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const state = this.kept ?? this.#snapshot();
    if (state === undefined) return this.#store.remove();
    this.#store.put(JSON.stringify({ url: this.#url, ...state }));
    void this.#hold(state, { ifAvailable: true });
  }

  saveSoon() {
    this.#timer ??= this.#clock.setTimeout(() => this.save(), SOON);
  }

  /** @param {{forget: boolean}} how whether the next load is to find nothing */
  end({ forget }) {
    if (forget) this.#store.remove();
    else if (this.#timer !== undefined) this.save();
    this.#clock.clearTimeout(this.#timer);
    this.#stop();
    if (this.#page.document) names.get(this.#page.document)?.delete(this.#name);
    this.#release();
  }

  async #claim() {
    const { kept } = this;
    if (kept === undefined) return false;
    const giveUp = new AbortController();
    const timer = this.#clock.setTimeout(() => giveUp.abort(), PATIENCE);
    const isHeld = await this.#hold(kept, { signal: giveUp.signal });
    this.#clock.clearTimeout(timer);
    return isHeld ?? this.#isReload;
  }

  /** @returns {Kept | undefined} */
  #read() {
    try {
      const kept = JSON.parse(this.#store.get() ?? "null");
      const { url, session, client, token, epoch, received, calls, hosts, topics } = kept ?? {};
      const isWhole = [session, client, token, epoch].every((each) => typeof each === "string") && Number.isInteger(received);
      return isWhole && url === this.#url && [calls, hosts, topics].every(Array.isArray) ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * @param {{session: string, client: string}} state
   * @param {{signal?: AbortSignal, ifAvailable?: boolean}} how
   * @returns {Promise<boolean | undefined>} undefined where a browser has no locks
   */
  async #hold({ session, client }, how) {
    const locks = this.#page.navigator?.locks;
    const name = `waybridge ${this.#url} ${session} ${client}`;
    if (locks === undefined || name === this.#held) return locks && true;
    this.#release();
    this.#held = name;
    return new Promise((resolve) => {
      const asked = locks.request(name, how, (lock) => {
        resolve(lock !== null);
        return lock === null || this.#held !== name ? undefined : new Promise((release) => (this.#release = () => release(undefined)));
      });
      asked.catch((error) => resolve(error?.name === "AbortError" ? false : undefined));
    });
  }

  get #isReload() {
    const [entry] = this.#page.performance?.getEntriesByType("navigation") ?? [];
    return entry?.type === "reload" || entry?.type === "back_forward";
  }
}
