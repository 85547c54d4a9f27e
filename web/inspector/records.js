// @ts-check

/** @typedef {Record<string, any> & {type: string, at: number, session: string}} WatchRecord as PROTOCOL.md tells it */
/**
 * One call, its request and its answer together.
 * @typedef {object} Call
 * @property {number} number in the order in which they were told
 * @property {number} at
 * @property {string} session
 * @property {string} [client]
 * @property {string} [name]
 * @property {any} [id]
 * @property {string} method
 * @property {string} [uri]
 * @property {string} [route]
 * @property {string} [host]
 * @property {string} [page]
 * @property {string} [from]
 * @property {number} [call]
 * @property {number} [ms] absent while it waits
 * @property {number} [code]
 * @property {string} [error]
 * @property {string} [outcome]
 * @property {number} [paramsBytes]
 * @property {number} [resultBytes]
 * @property {any} [params]
 * @property {any} [result]
 * @property {string} [paramsCut]
 * @property {string} [resultCut]
 * @property {WatchRecord[]} parts what was asked of clients for it, and interceptors
 * @property {string} [text] what a filter looks at
 */
/**
 * A page on a stack, from when its host was asked.
 * @typedef {{session: string, page: string, uri: string, route?: string, host: string, style: string, asked?: number, opened?: number,
 *   closed?: number, outcome?: string, error?: string}} PageSpan
 */
/** @typedef {{session: string, client: string, from: number, to?: number}} Absence a client without a connection */

/** What is known of what happened, the latest of it: calls by pairs, pages, absences. */
export class Records extends EventTarget {
  /** How many calls, and how many pages and absences, are kept. */
  static maxCalls = 5000;
  static maxSpans = 2000;
  /** @type {Call[]} the oldest first */
  calls = [];
  /** @type {Map<string, PageSpan>} */
  pages = new Map();
  /** @type {Absence[]} */
  absences = [];
  /** @type {WatchRecord[]} what belongs to no call that is known */
  others = [];
  dropped = 0;
  total = 0;
  /** The latest time that a record tells, by the server's clock. */
  latest = 0;
  /** @type {Map<string, Call>} those that have a number in their session */
  #byCall = new Map();
  #last = 0;

  /**
   * @param {WatchRecord[]} records
   * @param {number} [dropped]
   */
  take(records, dropped = 0) {
    this.dropped += dropped;
    /** @type {Set<string>} */
    const changed = new Set();
    for (const record of records) {
      this.latest = Math.max(this.latest, record.at + (record.ms ?? 0));
      if (record.type === "call") this.#call(record);
      else if (record.type === "page") this.#page(record);
      else if (record.type === "client") this.#client(record);
      else if (record.type !== "session") this.#part(record);
      if (record.type !== "call" || record.call !== undefined) changed.add(record.session);
      if (record.type === "session") this.#ended(record);
    }
    this.#forget();
    this.dispatchEvent(new CustomEvent("change", { detail: { sessions: changed } }));
  }

  clear() {
    this.calls = [];
    this.#byCall.clear();
    this.pages.clear();
    this.absences = [];
    this.others = [];
    this.dropped = 0;
    this.total = 0;
    this.dispatchEvent(new CustomEvent("change", { detail: { sessions: new Set() } }));
  }

  /** @param {WatchRecord} record */
  #call(record) {
    const key = record.call === undefined ? undefined : `${record.session}/${record.call}`;
    const known = key === undefined ? undefined : this.#byCall.get(key);
    const { type, state, ...rest } = record;
    if (known) {
      Object.assign(known, rest);
      known.text = undefined;
      return;
    }
    /** @type {Call} */
    const call = { method: "", ...rest, number: (this.#last += 1), parts: [] };
    this.total += 1;
    this.calls.push(call);
    if (key === undefined) return;
    this.#byCall.set(key, call);
    // What was asked for it may have been told before.
    if (this.others.length > 0) this.others = this.others.filter((part) => part.session !== call.session || part.call !== call.call || !call.parts.push(part));
  }

  /** @param {WatchRecord} record */
  #part(record) {
    const call = this.#byCall.get(`${record.session}/${record.call}`);
    if (call) call.parts.push(record);
    else this.others.push(record);
  }

  /** @param {WatchRecord} record */
  #page(record) {
    const key = `${record.session}/${record.page}`;
    const { session, page, uri, route, host, style } = /** @type {any} */ (record);
    /** @type {PageSpan} */
    const span = this.pages.get(key) ?? { session, page, uri, route, host, style };
    if (record.event === "asked") span.asked = record.at;
    if (record.event === "opened") span.opened = record.at;
    if (record.event === "closed") {
      // It may have been there before anybody watched.
      span.opened ??= record.at - (record.ms ?? 0);
      span.closed = record.at;
      span.outcome = record.outcome;
    }
    if (record.event === "failed") {
      span.closed = record.at;
      span.error = record.error;
    }
    this.pages.set(key, span);
  }

  /** @param {WatchRecord} record */
  #client({ event, session, client, at, ms }) {
    const open = [...this.absences].reverse().find((absence) => absence.session === session && absence.client === client && absence.to === undefined);
    if (event === "away") this.absences.push({ session, client, from: at });
    else if (open) open.to = at;
    else if (event === "back" && ms) this.absences.push({ session, client, from: at - ms, to: at });
  }

  /** @param {WatchRecord} record */
  #ended({ session, at }) {
    for (const page of this.pages.values()) if (page.session === session) page.closed ??= at;
    for (const absence of this.absences) if (absence.session === session) absence.to ??= at;
  }

  #forget() {
    if (this.calls.length > Records.maxCalls) {
      for (const call of this.calls.splice(0, this.calls.length - Records.maxCalls)) {
        if (call.call !== undefined) this.#byCall.delete(`${call.session}/${call.call}`);
      }
    }
    for (const key of this.pages.keys()) {
      if (this.pages.size <= Records.maxSpans) break;
      this.pages.delete(key);
    }
    if (this.absences.length > Records.maxSpans) this.absences.splice(0, this.absences.length - Records.maxSpans);
    if (this.others.length > Records.maxSpans) this.others.splice(0, this.others.length - Records.maxSpans);
  }
}

/**
 * What a filter looks at of a call.
 * @param {Call} call
 * @returns {string}
 */
export function textOf(call) {
  call.text ??= [call.name, call.client, call.method, call.uri, call.route, call.host, call.outcome, call.error, call.code, call.session]
    .filter((part) => part !== undefined).join(" ").toLowerCase();
  return call.text;
}
