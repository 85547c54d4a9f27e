// @ts-check

/** @typedef {import("../../bridge/bridge.js").Lost} Lost */

/** @type {Record<string, string>} by the reason that the server or the client gives */
const reasons = {
  unknown: "The server no longer knows this client",
  token: "The server rejected the token of this client",
  epoch: "The server restarted its message numbers",
  gap: "Messages are missing",
  outbox: "Too many messages waited for this client",
  connection: "The connection was lost",
  server: "The server has lost calls",
};

/**
 * Describes what was lost.
 * @param {Lost} lost
 */
export function inWords({ reason, calls, pages }) {
  const what = [count(pages.length, "page"), count(calls.length, "call")].filter((each) => each !== "");
  const cost = what.length === 0 ? "nothing was lost" : `lost: ${what.join(" and ")}`;
  const names = calls.map(({ uri, method }) => uri ?? method);
  const doubt = names.length === 0 ? "" : ` It is unknown whether these calls ran: ${names.join(", ")}.`;
  const session = reason === "server" ? "" : ", a new session has begun";
  return `${reasons[reason] ?? reason}${session}; ${cost}.${doubt}`;
}

/**
 * Describes what survived a restart of the server.
 * @param {number} pages
 * @param {number} calls that wait for a response
 */
export function keptInWords(pages, calls) {
  const what = [count(pages, "page"), count(calls, "waiting call")].filter((each) => each !== "");
  return `The server was restarted; the session continues${what.length > 0 ? ` with ${what.join(" and ")}` : ""}.`;
}

/**
 * @param {number} number
 * @param {string} name
 */
function count(number, name) {
  if (number === 0) return "";
  return number === 1 ? `one ${name}` : `${number} ${name}s`;
}
