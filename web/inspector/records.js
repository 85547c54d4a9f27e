// @ts-check
import { RecordIndex } from "./record-index.js";

/** @typedef {Record<string, any> & {type: string, at: number, session: string}} InspectorRecord as ADMINISTRATION.md defines it */
/**
 * A call: its request and its response. Also a fault: a result that does not fit the route table, which has no request.
 * @typedef {object} Call
 * @property {number} number in the order of their records
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
 * @property {number} [ms] absent while it is waiting
 * @property {number} [code]
 * @property {string} [error]
 * @property {string} [outcome]
 * @property {number} [paramsBytes]
 * @property {number} [resultBytes]
 * @property {any} [params]
 * @property {any} [result]
 * @property {string} [paramsCut]
 * @property {string} [resultCut]
 * @property {InspectorRecord} [fault] the record of a fault
 * @property {InspectorRecord[]} parts the requests to clients that belong to it, and interceptors
 * @property {number} [lostAt] the time after which its end cannot be known
 * @property {string} [text] the text that a filter searches
 */
/**
 * A page on a stack, from the request to its host.
 * @typedef {{session: string, page: string, uri: string, route?: string, host: string, style: string, asked?: number, opened?: number,
 *   closed?: number, outcome?: string, error?: string}} PageSpan
 */
/** @typedef {{session: string, client: string, from: number, to?: number}} Absence a client without a connection */

/** The latest calls, pages and absences. */
export class Records extends EventTarget {
  /** The most calls, pages and absences that are kept. */
  static maxCalls = 5000;
  static maxSpans = 2000;
  /** @type {Call[]} the oldest first */
  calls = [];
  /** @type {Map<string, PageSpan>} */
  pages = new Map();
  /** @type {Absence[]} */
  absences = [];
  /** @type {InspectorRecord[]} the records that belong to no known call */
  others = [];
  dropped = 0;
  /** The latest time of a record, by the server's clock. */
  latest = 0;
  /** @type {Map<string, Call>} the calls with a number in their session, until the server restarts its numbers */
  #byCall = new Map();
  /** Records that were restored, and may come again in a batch that is on its way */
  #restored = new RecordIndex();
  /** The time until which all records were cleared. */
  #clearedAt = 0;
  #last = 0;

  /**
   * @param {InspectorRecord[]} records
   * @param {number} [dropped]
   */
  add(records, dropped = 0) {
    this.dropped += dropped;
    /** @type {Set<string>} */
    const changed = new Set();
    for (const record of records) {
      this.latest = Math.max(this.latest, endOf(record));
      const existing = this.#restored.consume(record);
      if (existing) Object.assign(existing, record.type === "call" ? callFields(record) : existing.fault ? {} : record);
      else if (record.type === "call") this.#call(record);
      else this.#other(record);
      if (record.type !== "call" || record.call !== undefined) changed.add(record.session);
    }
    this.#forget();
    this.#changed(changed);
  }

  /**
   * Restores the records of a session that the server kept, the oldest first, without known and cleared ones.
   * @param {string} session
   * @param {InspectorRecord[]} records without messages
   */
  restore(session, records) {
    const known = new RecordIndex();
    for (const call of this.calls) {
      if (call.session !== session) continue;
      known.add(call.fault ?? { type: "call", ...call }, call);
      for (const part of call.parts) known.add(part, part);
    }
    for (const part of this.others) if (part.session === session) known.add(part, part);
    this.#restored = new RecordIndex();
    for (const record of records) {
      if (endOf(record) <= this.#clearedAt) continue;
      this.latest = Math.max(this.latest, endOf(record));
      const same = known.consume(record);
      if (record.type === "call") this.#restoreCall(record, same ?? this.#byCall.get(keyOf(record)));
      else if (!same) this.#restored.add(record, this.#other(record));
    }
    this.calls.sort((one, other) => one.at - other.at);
    for (const call of this.calls) call.number = this.#last += 1;
    this.#forget();
    this.#changed(new Set(), true);
  }

  /** Later records are missing, and numbers may restart: the server is another one, or no longer watches. */
  interrupt() {
    this.#byCall.clear();
    this.#restored = new RecordIndex();
    for (const call of this.calls) if (call.ms === undefined) call.lostAt ??= this.latest;
    this.others = this.others.map(({ call, ...part }) => part);
    this.#changed(new Set());
  }

  clear() {
    this.calls = [];
    this.#byCall.clear();
    this.#restored = new RecordIndex();
    this.#clearedAt = this.latest;
    this.pages.clear();
    this.absences = [];
    this.others = [];
    this.dropped = 0;
    this.#changed(new Set());
  }

  /**
   * @param {Set<string>} sessions the sessions with a change other than a short call
   * @param {boolean} [isInOrder] whether calls have new numbers and places
   */
  #changed(sessions, isInOrder = false) {
    this.dispatchEvent(new CustomEvent("change", { detail: { sessions, isInOrder } }));
  }

  /**
   * @param {InspectorRecord} record
   * @returns {Call}
   */
  #call(record) {
    const known = this.#byCall.get(keyOf(record));
    // A restarted server may use a number again.
    if (known && (known.ms === undefined || known.at === record.at)) return Object.assign(known, callFields(record));
    /** @type {Call} */
    const call = { method: "", ...callFields(record), number: (this.#last += 1), parts: [] };
    this.calls.push(call);
    if (call.call === undefined) return call;
    this.#byCall.set(keyOf(call), call);
    // Its requests to clients may have been recorded before.
    if (this.others.length > 0) this.others = this.others.filter((part) => part.session !== call.session || part.call !== call.call || !call.parts.push(part));
    return call;
  }

  /**
   * @param {InspectorRecord} record
   * @param {Call | undefined} known
   */
  #restoreCall(record, known) {
    if (!known) return this.#restored.add(record, this.#call(record));
    // The call continues under its number, even if its records were interrupted.
    if (known.call !== undefined) this.#byCall.set(keyOf(known), known);
    if (known.ms === undefined) Object.assign(known, { lostAt: undefined }, record.ms === undefined ? {} : callFields(record));
  }

  /**
   * @param {InspectorRecord} record that is no call
   * @returns {InspectorRecord | Call}
   */
  #other(record) {
    if (record.type === "result") return this.#fault(record);
    if (record.type === "page") this.#page(record);
    else if (record.type === "client") this.#client(record);
    else if (record.type === "session") this.#ended(record);
    else this.#part(record);
    return record;
  }

  /**
   * @param {InspectorRecord} record
   * @returns {Call}
   */
  #fault(record) {
    const { at, session, client, uri, route, host, source, method, errors, rejected } = record;
    const faults = errors.map((/** @type {{path: string, message: string}} */ { path, message }) => `${path}: ${message}`).join("; ");
    const name = this.calls.filter((call) => client !== undefined && call.client === client).at(-1)?.name;
    /** @type {Call} */
    const fault = {
      at, session, client, name, uri, route, host, ms: 0, number: (this.#last += 1), parts: [], fault: record, result: errors,
      method: method === undefined ? `invalid result of ${source}` : `invalid result of method ${method}`,
      // A page stays open, and its own call fails.
      ...(rejected ? { code: source === "page" ? 2422 : 2502, error: faults } : { outcome: `only logged: ${faults}` }),
    };
    this.calls.push(fault);
    return fault;
  }

  /** @param {InspectorRecord} record */
  #part(record) {
    const call = this.#byCall.get(keyOf(record));
    if (call) call.parts.push(record);
    else this.others.push(record);
  }

  /** @param {InspectorRecord} record */
  #page(record) {
    const key = `${record.session}/${record.page}`;
    const { session, page, uri, route, host, style } = /** @type {any} */ (record);
    /** @type {PageSpan} */
    const span = this.pages.get(key) ?? { session, page, uri, route, host, style };
    if (record.event === "asked") span.asked = record.at;
    if (record.event === "opened") span.opened = record.at;
    if (record.event === "closed") {
      // The page may have been open before the inspector watched.
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

  /** @param {InspectorRecord} record */
  #client({ event, session, client, at, ms }) {
    const own = this.absences.filter((absence) => absence.session === session && absence.client === client);
    if (own.some(({ from, to }) => (event === "away" ? from : to) === at)) return;
    const open = own.reverse().find(({ to }) => to === undefined);
    if (event === "away") this.absences.push({ session, client, from: at });
    else if (open) open.to = at;
    else if (event === "back" && ms) this.absences.push({ session, client, from: at - ms, to: at });
  }

  /** @param {InspectorRecord} record */
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

/** @param {InspectorRecord} record */
function endOf({ at, ms = 0 }) {
  return at + ms;
}

/**
 * The fields of a call that a record has.
 * @param {InspectorRecord} record
 * @returns {any}
 */
function callFields({ type, state, ...rest }) {
  return { ...rest, text: undefined, lostAt: undefined };
}

/**
 * Returns the text of a call that a filter searches.
 * @param {Call} call
 * @returns {string}
 */
export function textOf(call) {
  call.text ??= [call.name, call.client, call.method, call.uri, call.route, call.host, call.outcome, call.error, call.code, call.session]
    .filter((part) => part !== undefined).join(" ").toLowerCase();
  return call.text;
}

/**
 * Returns the waiting calls of a session as records. The server describes them even if no client watched before.
 * @param {{session: string, at: number, clients: any[], calls: any[]}} detail the result of `admin.session`
 * @returns {InspectorRecord[]}
 */
export function waitingRecords({ session, at, clients, calls }) {
  const names = new Map(clients.map(({ client, name }) => [client, name]));
  return calls.filter(({ call }) => call !== undefined).map(({ call, client, id, method, uri, page, host, ms = 0 }) =>
    ({ type: "call", state: "waits", at: at - ms, session, client, name: names.get(client), id, method, uri, page, host, call }));
}
