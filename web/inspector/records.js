// @ts-check
import { Told } from "./told.js";

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
 * @property {number} [lostAt] when it still waited, and nobody could tell its end any more
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
  /** The latest time that a record tells, by the server's clock. */
  latest = 0;
  /** @type {Map<string, Call>} those that have a number in their session, as long as the server counts on */
  #byCall = new Map();
  /** What was recalled, and may still be told by a batch that is on its way */
  #recalled = new Told();
  /** What happened until then was cleared. */
  #clearedAt = 0;
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
      this.latest = Math.max(this.latest, end(record));
      const again = this.#recalled.take(record);
      if (again) Object.assign(again, record.type === "call" ? said(record) : record);
      else if (record.type === "call") this.#call(record);
      else this.#other(record);
      if (record.type !== "call" || record.call !== undefined) changed.add(record.session);
    }
    this.#forget();
    this.#changed(changed);
  }

  /**
   * Takes what the server remembers of a session, the oldest first: what is known of it already, and what was cleared, is left out.
   * @param {string} session
   * @param {WatchRecord[]} records without messages
   */
  recall(session, records) {
    const known = new Told();
    for (const call of this.calls) {
      if (call.session !== session) continue;
      known.add({ type: "call", ...call }, call);
      for (const part of call.parts) known.add(part, part);
    }
    for (const part of this.others) if (part.session === session) known.add(part, part);
    this.#recalled = new Told();
    for (const record of records) {
      if (end(record) <= this.#clearedAt) continue;
      this.latest = Math.max(this.latest, end(record));
      const same = known.take(record);
      if (record.type === "call") this.#recallCall(record, same ?? this.#byCall.get(keyOf(record)));
      else if (!same) this.#recalled.add(record, this.#other(record));
    }
    this.calls.sort((one, other) => one.at - other.at);
    for (const call of this.calls) call.number = this.#last += 1;
    this.#forget();
    this.#changed(new Set(), true);
  }

  /** What happened since cannot be told, and numbers may begin anew: the server was another one, or has forgotten who watched. */
  interrupt() {
    this.#byCall.clear();
    this.#recalled = new Told();
    for (const call of this.calls) if (call.ms === undefined) call.lostAt ??= this.latest;
    this.others = this.others.map(({ call, ...part }) => part);
    this.#changed(new Set());
  }

  clear() {
    this.calls = [];
    this.#byCall.clear();
    this.#recalled = new Told();
    this.#clearedAt = this.latest;
    this.pages.clear();
    this.absences = [];
    this.others = [];
    this.dropped = 0;
    this.#changed(new Set());
  }

  /**
   * @param {Set<string>} sessions those of which more than a call that took no time has changed
   * @param {boolean} [isInOrder] whether calls have got other numbers and places
   */
  #changed(sessions, isInOrder = false) {
    this.dispatchEvent(new CustomEvent("change", { detail: { sessions, isInOrder } }));
  }

  /**
   * @param {WatchRecord} record
   * @returns {Call}
   */
  #call(record) {
    const known = this.#byCall.get(keyOf(record));
    // A number may come again where the server has begun anew.
    if (known && (known.ms === undefined || known.at === record.at)) return Object.assign(known, said(record));
    /** @type {Call} */
    const call = { method: "", ...said(record), number: (this.#last += 1), parts: [] };
    this.calls.push(call);
    if (call.call === undefined) return call;
    this.#byCall.set(keyOf(call), call);
    // What was asked for it may have been told before.
    if (this.others.length > 0) this.others = this.others.filter((part) => part.session !== call.session || part.call !== call.call || !call.parts.push(part));
    return call;
  }

  /**
   * @param {WatchRecord} record
   * @param {Call | undefined} known
   */
  #recallCall(record, known) {
    if (!known) return this.#recalled.add(record, this.#call(record));
    // It goes on under its number, although it may have been interrupted for us.
    if (known.call !== undefined) this.#byCall.set(keyOf(known), known);
    if (known.ms === undefined) Object.assign(known, { lostAt: undefined }, record.ms === undefined ? {} : said(record));
  }

  /**
   * @param {WatchRecord} record that is no call
   * @returns {WatchRecord}
   */
  #other(record) {
    if (record.type === "page") this.#page(record);
    else if (record.type === "client") this.#client(record);
    else if (record.type === "session") this.#ended(record);
    else this.#part(record);
    return record;
  }

  /** @param {WatchRecord} record */
  #part(record) {
    const call = this.#byCall.get(keyOf(record));
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
    const own = this.absences.filter((absence) => absence.session === session && absence.client === client);
    if (own.some(({ from, to }) => (event === "away" ? from : to) === at)) return;
    const open = own.reverse().find(({ to }) => to === undefined);
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
        if (this.#byCall.get(keyOf(call)) === call) this.#byCall.delete(keyOf(call));
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

/** @param {{session: string, call?: number}} record */
function keyOf({ session, call }) {
  return call === undefined ? "" : `${session}/${call}`;
}

/** @param {WatchRecord} record */
function end({ at, ms = 0 }) {
  return at + ms;
}

/**
 * What a record says of its call.
 * @param {WatchRecord} record
 * @returns {any}
 */
function said({ type, state, ...rest }) {
  return { ...rest, text: undefined, lostAt: undefined };
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
