// @ts-check

/** @typedef {import("../../bridge/bridge.js").Lost} Lost */

/** @type {Record<string, string>} by what the server, or the client, says */
const reasons = {
  unknown: "The server does not know this client any more",
  token: "The server did not take this client for the one that it was",
  epoch: "The server has counted anew",
  gap: "Messages are missing",
  outbox: "Too much waited for this client",
  connection: "The connection is lost",
  server: "The server has forgotten calls",
};

/**
 * What is gone, in words.
 * @param {Lost} lost
 */
export function inWords({ reason, calls, pages }) {
  const what = [count(pages.length, "page"), count(calls.length, "call")].filter((each) => each !== "");
  const cost = what.length === 0 ? "nothing of it is lost" : `gone: ${what.join(" and ")}`;
  const names = calls.map(({ uri, method }) => uri ?? method);
  const doubt = names.length === 0 ? "" : ` Nobody knows whether these were carried out: ${names.join(", ")}.`;
  const session = reason === "server" ? "" : ", a new session has begun";
  return `${reasons[reason] ?? reason}${session}; ${cost}.${doubt}`;
}

/**
 * What a restart of the server has left as it was, in words.
 * @param {number} pages
 * @param {number} calls that wait for an answer
 */
export function keptInWords(pages, calls) {
  const what = [count(pages, "page"), count(calls, "waiting call")].filter((each) => each !== "");
  return `The server was restarted; the session goes on${what.length > 0 ? ` with ${what.join(" and ")}` : ""}.`;
}

/**
 * @param {number} number
 * @param {string} name
 */
function count(number, name) {
  if (number === 0) return "";
  return number === 1 ? `one ${name}` : `${number} ${name}s`;
}
