// @ts-check

/**
 * @param {number | null | undefined} ms
 * @returns {string}
 */
export function duration(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/**
 * @param {number} at milliseconds since 1970
 * @param {boolean} [isPrecise] milliseconds too
 * @returns {string}
 */
export function clock(at, isPrecise = true) {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
  return isPrecise ? `${time}.${String(date.getMilliseconds()).padStart(3, "0")}` : time;
}

/**
 * @param {number} at 0 for the start of the server
 * @returns {string}
 */
export function since(at) {
  return at === 0 ? "since the start" : new Date(at).toLocaleString();
}

/**
 * @param {number | undefined} bytes
 * @returns {string}
 */
export function size(bytes) {
  if (bytes === undefined) return "";
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}

/** @param {unknown} value */
export function pretty(value) {
  return JSON.stringify(value, null, 2) ?? "";
}

/**
 * Returns an error as text.
 * @param {any} error
 * @returns {string}
 */
export function inWords(error) {
  if (error?.code === 2403) return `The policy denies this: ${error.message}`;
  return error?.code ? `${error.message} (${error.code})` : String(error?.message ?? error);
}

/**
 * @param {string | undefined} uri
 * @returns {"native" | "web" | "flutter" | "task" | "other"}
 */
export function technology(uri = "") {
  const scheme = uri.slice(0, uri.indexOf(":")).toLowerCase();
  if (scheme === "native") return "native";
  if (scheme === "http" || scheme === "https") return "web";
  if (scheme === "flutter") return "flutter";
  return scheme === "action" || scheme === "service" ? "task" : "other";
}

/** @param {string} uri without the server's own address, which says nothing */
export function short(uri) {
  return uri.startsWith(location.origin) ? uri.slice(location.origin.length) : uri;
}
