// @ts-check
import { codes } from "./codes.js";
import { ConnectionClosed } from "./errors.js";

/** How often the same is told to one session, where servers that were restarted leave open whether they have heard it. */
const TRIES = 5;

/** @typedef {import("./types.js").Unregister} Unregister */

/** What the server is told of this client: its hosts and the topics it wants. A new session has to be told again. */
export class Announcements {
  /** Whether the session at hand was told of all that was there when it opened. */
  #greeted = false;
  /** Topics that a session was asked for; those of a call that still waits are not among them. */
  #asked = new Set();
  #hosting;
  #subscriptions;
  #client;

  /**
   * @param {import("./hosting.js").Hosting} hosting
   * @param {import("./subscriptions.js").Subscriptions} subscriptions
   * @param {object} client
   * @param {(method: string, params: object, options?: {first: boolean}) => Promise<any>} client.request
   * @param {() => Promise<unknown>} client.ready the session, or the next one
   * @param {(error: any) => void} client.refused told of what failed for other reasons than the end of the connection
   */
  constructor(hosting, subscriptions, client) {
    this.#hosting = hosting;
    this.#subscriptions = subscriptions;
    this.#client = client;
  }

  /** What `session.open` is to say of hosts; later ones are announced on their own. */
  greet() {
    this.#greeted = true;
    const { declarations } = this.#hosting;
    return declarations.length > 0 ? declarations : undefined;
  }

  /** Asks a new session for the topics of the one before. */
  resubscribe() {
    const topics = this.#subscriptions.topics.filter((topic) => this.#asked.has(topic));
    if (topics.length === 0) return;
    this.#first("events.subscribe", { topics });
  }

  /** What the server knows, for the next load of the page. */
  get told() {
    return { hosts: this.#hosting.declarations, topics: [...this.#asked] };
  }

  /**
   * Takes back what an earlier load of the page has told, and tells what this one has hosted so far. Topics are asked for anew,
   * since the server repeats the events that it keeps to who asks first.
   * @param {{hosts: import("./registry.js").Declaration[], topics: string[]}} before
   */
  again({ hosts, topics }) {
    const { declarations } = this.#hosting;
    const own = new Set(declarations.map((each) => JSON.stringify(each)));
    const stale = hosts.filter((each) => !own.has(JSON.stringify(each)));
    if (topics.length > 0) this.#first("events.unsubscribe", { topics });
    if (stale.length > 0) this.#first("host.unregister", { hosts: stale });
    if (declarations.length > 0) this.#first("host.register", { hosts: declarations });
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  #first(method, params) {
    this.#request(method, params, { first: true }).catch((error) => {
      if (!isLost(error)) this.#client.refused(error);
    });
  }

  /** The session is gone. */
  lost() {
    this.#greeted = false;
  }

  /**
   * @param {{declaration: import("./registry.js").Declaration, remove: () => void}} entry
   * @returns {Unregister}
   */
  host({ declaration, remove }) {
    const params = { hosts: [declaration] };
    const told = this.#greeted ? this.#tell("host.register", params) : this.#client.ready();
    return this.#undoable(told, remove, () => this.#tell("host.unregister", params, remove));
  }

  /**
   * @param {string | string[]} topics
   * @param {import("./types.js").EventHandler} handler
   * @returns {Unregister}
   */
  subscribe(topics, handler) {
    const known = new Set(this.#subscriptions.topics);
    const entry = this.#subscriptions.add(topics, handler);
    const fresh = entry.topics.filter((topic) => !known.has(topic));
    const remove = () => {
      const unwanted = entry.remove();
      for (const topic of unwanted) this.#asked.delete(topic);
      return unwanted;
    };
    const asked = () => {
      const wanted = new Set(this.#subscriptions.topics);
      for (const topic of fresh) if (wanted.has(topic)) this.#asked.add(topic);
    };
    const told = fresh.length > 0 ? this.#tell("events.subscribe", { topics: fresh }, asked) : this.#client.ready();
    return this.#undoable(told, remove, async () => {
      const unwanted = remove();
      if (unwanted.length > 0) await this.#tell("events.unsubscribe", { topics: unwanted });
    });
  }

  /**
   * Changes what the server knows. When the connection ends meanwhile, the next session learns it as it opens.
   * @param {string} method
   * @param {object} params
   * @param {() => void} [settled] called before that session opens
   */
  async #tell(method, params, settled) {
    try {
      await this.#request(method, params);
      settled?.();
    } catch (error) {
      if (!isLost(error)) throw error;
      settled?.();
      await this.#client.ready();
    }
  }

  /**
   * It does no harm twice: where its outcome is unknown, and the session goes on, it is asked again.
   * @param {string} method
   * @param {object} params
   * @param {{first: boolean}} [options]
   */
  async #request(method, params, options) {
    const { request, ready } = this.#client;
    const session = ready();
    for (let left = TRIES; ; left -= 1) {
      try {
        return await request(method, params, options);
      } catch (/** @type {any} */ error) {
        const isOpen = error.code === codes.outcomeUnknown.code && !(error instanceof ConnectionClosed);
        if (!isOpen || session !== ready() || left === 1) throw error;
      }
    }
  }

  /**
   * @param {Promise<unknown>} told
   * @param {() => void} remove what takes it back on this side
   * @param {() => Promise<void>} undo what takes it back on both
   * @returns {Unregister}
   */
  #undoable(told, remove, undo) {
    const registered = told.then(() => {}, (error) => {
      remove();
      this.#client.refused(error);
      throw error;
    });
    // Who does not wait for it learns of the failure from the event.
    registered.catch(() => {});
    return Object.assign(() => registered.then(undo), { registered });
  }
}

/**
 * Whether it was the session that failed, and not what was asked of it.
 * @param {any} error
 */
function isLost(error) {
  return error instanceof ConnectionClosed || error.code === codes.outcomeUnknown.code;
}
