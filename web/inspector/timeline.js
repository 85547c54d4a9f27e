// @ts-check

/** @typedef {import("./records.js").Call} Call */
/**
 * @typedef {object} Bar
 * @property {"call" | "ask" | "interceptors" | "page" | "hold"} kind
 * @property {number} from milliseconds since 1970
 * @property {number} to
 * @property {string} text
 * @property {boolean} [isOpen] it is running
 * @property {boolean} [isError]
 * @property {Call} [call]
 */
/** @typedef {{title: string, rows: Bar[][]}} Lane bars that do not overlap in a row */

/** The most bars of a picture, and rows of a lane. */
export const maxBars = 300;
const maxRows = 6;

/**
 * Returns the offset of the server's clock from the browser's in milliseconds; it is negative if the server is behind. The previous
 * offset stays if it fits the response, so that the picture does not jump.
 * @param {number | undefined} previous
 * @param {number} at the server's time in the response
 * @param {number} requestedAt when it was requested, by the browser's clock
 * @param {number} receivedAt when the response was received
 * @returns {number}
 */
export function clockOffset(previous, at, requestedAt, receivedAt) {
  const middle = at - (requestedAt + receivedAt) / 2;
  return previous !== undefined && Math.abs(middle - previous) <= (receivedAt - requestedAt) / 2 + 1 ? previous : middle;
}

/**
 * Returns the lanes of a session's timeline: one for the calls of each client, one for the requests to each client, one for the pages.
 * @param {import("./records.js").Records} records
 * @param {string} session
 * @param {number} from milliseconds since 1970
 * @param {number} to
 * @returns {{lanes: Lane[], left: number}} `left` is the number of bars that did not fit
 */
export function lanes(records, session, from, to) {
  /** @type {Map<string, Bar[]>} */
  const found = new Map();
  let count = 0;
  let left = 0;
  const hasRoom = () => count < maxBars || void (left += 1);
  const add = (/** @type {string} */ lane, /** @type {Bar} */ bar) => {
    if (bar.to < from || bar.from > to || !hasRoom()) return;
    count += 1;
    const bars = found.get(lane);
    if (bars) bars.push(bar);
    else found.set(lane, [bar]);
  };
  for (const page of records.pages.values()) {
    if (page.session !== session || (page.opened === undefined && page.asked === undefined)) continue;
    const start = page.opened ?? page.asked ?? 0;
    const text = `${page.page} ${page.route ?? page.uri}${page.outcome ? `: ${page.outcome}` : ""}`;
    add("Pages", { kind: "page", from: start, to: page.closed ?? to, text, isOpen: page.closed === undefined, isError: page.error !== undefined });
  }
  for (const { session: of, client, from: start, to: end } of records.absences) {
    if (of === session) add(`Connection of ${client}`, { kind: "hold", from: start, to: end ?? to, text: "no connection", isOpen: end === undefined });
  }
  // The latest calls are placed first.
  for (let place = records.calls.length - 1; place >= 0; place -= 1) {
    const call = records.calls[place];
    const end = call.ms === undefined ? call.lostAt ?? to : call.at + call.ms;
    if (call.session !== session || end < from || call.at > to || !hasRoom()) continue;
    const callerName = call.name ?? call.client ?? "app code";
    const text = `${call.method.replace(/^router\./, "")} ${call.uri ?? ""}`.trim();
    add(`Calls of ${callerName}`, { kind: "call", from: call.at, to: end, text, isOpen: call.ms === undefined && call.lostAt === undefined, isError: Boolean(call.code || call.fault), call });
    const asked = call.page === undefined ? undefined : records.pages.get(`${session}/${call.page}`)?.asked;
    const judged = call.parts.filter((part) => part.type === "interceptors").reduce((last, part) => Math.max(last, part.at + part.ms), call.at);
    if (call.method === "router.open" && asked !== undefined && asked - judged > 1) {
      add("Pages", { kind: "hold", from: judged, to: asked, text: `${call.page} waits in the queue`, call });
    }
    for (const part of call.parts) {
      if (part.type === "interceptors") {
        add("Interceptors", { kind: "interceptors", from: part.at, to: part.at + part.ms, text: `${part.names.join(", ")}: ${part.verdict}`, isError: part.verdict === "refused", call });
      } else {
        add(`Requests to ${part.name ?? part.client}`, { kind: "ask", from: part.at, to: part.at + part.ms, text: `${part.method} ${part.uri ?? ""}`.trim(), isError: Boolean(part.code), call });
      }
    }
  }
  for (const part of records.others) {
    if (part.session === session && part.type === "ask") {
      add(`Requests to ${part.name ?? part.client}`, { kind: "ask", from: part.at, to: part.at + part.ms, text: part.method, isError: Boolean(part.code) });
    }
  }
  const titles = [...found.keys()].sort((one, other) => order(one) - order(other) || one.localeCompare(other));
  return {
    lanes: titles.map((title) => {
      const { rows, left: more } = pack(found.get(title) ?? []);
      left += more;
      return { title, rows };
    }),
    left,
  };
}

/** @param {string} title */
function order(title) {
  return ["Pages", "Interceptors", "Calls", "Requests", "Connection"].findIndex((start) => title.startsWith(start));
}

/**
 * Distributes bars over as few rows as possible.
 * @param {Bar[]} bars
 * @returns {{rows: Bar[][], left: number}}
 */
function pack(bars) {
  /** @type {Bar[][]} */
  const rows = [];
  let left = 0;
  for (const bar of bars.sort((one, other) => one.from - other.from)) {
    const row = rows.find((each) => each[each.length - 1].to <= bar.from);
    if (row) row.push(bar);
    else if (rows.length < maxRows) rows.push([bar]);
    else left += 1;
  }
  return { rows, left };
}
