import { readFileSync } from "node:fs";

const CODES = JSON.parse(readFileSync(new URL("../../protocol/codes.json", import.meta.url), "utf8"));
const ERRORS = new Set(CODES.errors.map(({ code }) => code));
/** The codes of the protocol, and those of RFC 6455 for a connection that violates it or ends without a code. */
export const CLOSES = new Set([...CODES.closes.map(({ code }) => code), 1002, 1005, 1011]);
/** The requests and notifications that the server can send. */
const METHODS = new Set(["page.open", "page.close", "page.leave", "page.resume", "page.call", "task.run", "router.intercept", "event", "$/progress", "$/cancelRequest", "$/ack", "$/ping"]);
const MAX_DEPTH = 128;
const MAX_BATCH = 100;
const MAX_ID = 256;
const MAX_VALUES = 32_768;

/** An id as the key of a map. Numbers are compared as JavaScript parses them, which is the same in both directions. */
export const keyOf = (id) => (typeof id === "string" ? `s${id}` : String(id));

/**
 * The responses that the server owes for a text: `must`, the keys of ids that each have one response, and `may`, the number of
 * further responses that are possible, with any id or none.
 */
export function owedFor(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return { must: [], may: 1 };
  }
  if (isRefused(text)) return { must: [], may: Array.isArray(value) ? value.length + 1 : 1 };
  const size = Math.floor((wordsOf(value) + 1) / 2);
  if (Array.isArray(value) && size > MAX_VALUES / 2) {
    // The server also counts duplicate names in an object, so the message may be over the limit.
    return { must: [], may: value.length + 1 };
  }
  if (size > MAX_VALUES / 2) {
    const { must } = owedForOne(value, text);
    return { must, may: must.length === 0 ? 1 : 0 };
  }
  if (!Array.isArray(value)) return owedForOne(value, text);
  if (value.length === 0 || value.length > MAX_BATCH) return { must: [], may: 1 };
  const each = value.map((message) => owedForOne(message, text));
  return { must: each.flatMap(({ must }) => must), may: each.reduce((sum, { may }) => sum + may, 0) };
}

/** The server's count of values, in words: two for a container or a number, one for a name and everything else. */
function wordsOf(value) {
  if (typeof value === "number") return 2;
  if (typeof value !== "object" || value === null) return 1;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum, member) => sum + wordsOf(member), 2 + names);
}

/** Whether JavaScript accepts a text that the server may reject: too deep, a lone surrogate, a duplicate name in an envelope. */
function isRefused(text) {
  /** The names of the open objects; undefined for an array. */
  const open = [];
  let name;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') {
      const begin = at;
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
      name = text.slice(begin, at + 1);
    } else if (unit === ":" && open.length <= 2) {
      const names = open.at(-1);
      const key = JSON.parse(name);
      if (names.has(key)) return true;
      names.add(key);
    } else if (unit === "[" || unit === "{") {
      open.push(unit === "{" ? new Set() : undefined);
      if (open.length > MAX_DEPTH) return true;
    } else if (unit === "]" || unit === "}") open.pop();
  }
  return /\\u[dD][89a-fA-F]/.test(text);
}

function owedForOne(message, text) {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return { must: [], may: 1 };
  const { jsonrpc, id, method, params } = message;
  const has = (name) => Object.hasOwn(message, name);
  if (!has("method")) return { must: [], may: 1 };
  const isSound = jsonrpc === "2.0" && typeof method === "string" && !has("result") && !has("error") && !has("seq")
    && (!has("params") || (typeof params === "object" && params !== null));
  if (!isSound) return { must: [], may: 1 };
  if (!has("id")) return { must: [], may: 0 };
  // A number in another notation than JavaScript's is a different id.
  const isReadable = typeof id === "string"
    ? Buffer.byteLength(id) <= MAX_ID
    : Number.isSafeInteger(id) && new RegExp(`"id":${id}[,}]`).test(text);
  return isReadable ? { must: [keyOf(id)], may: 0 } : { must: [], may: 1 };
}

/** Describes what is wrong with a message of the server; undefined if nothing is. */
export function faultOf(message) {
  if (typeof message !== "object" || message === null || message.jsonrpc !== "2.0") return "no JSON-RPC 2.0";
  const has = (name) => Object.hasOwn(message, name);
  const strange = Object.keys(message).find((name) => !["jsonrpc", "id", "method", "params", "result", "error", "seq"].includes(name));
  if (strange !== undefined) return `the member ${strange}`;
  if (has("seq") && !(Number.isSafeInteger(message.seq) && message.seq > 0)) return `the seq ${message.seq}`;
  if (has("method")) {
    if (!METHODS.has(message.method)) return `the method ${message.method}`;
    return has("result") || has("error") ? "both request and response" : undefined;
  }
  if (!has("id") || has("result") === has("error")) return "no response";
  if (!has("error")) return undefined;
  const { code, message: text } = message.error;
  if (!Number.isInteger(code) || typeof text !== "string") return "no error object";
  const isApplications = CODES.applicationErrors.some(({ first, last = Infinity }) => code >= first && code <= last);
  return ERRORS.has(code) || isApplications ? undefined : `the code ${code}`;
}
