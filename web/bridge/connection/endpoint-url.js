// @ts-check
import { attempt, failure } from "../values/errors.js";

/**
 * Returns the URL of the endpoint. In a page it can be relative; its default is `/bridge` on the page's own server.
 * @param {string | URL | null | undefined} url `null`: there is no bridge
 * @param {boolean} optional whether a URL is optional outside of a page that comes from a server
 */
export function endpoint(url, optional) {
  if (url === null) return undefined;
  if (url !== undefined) return socketURL(url);
  if (/^https?:/.test(base() ?? "")) return socketURL("/bridge");
  if (optional) return undefined;
  throw invalid(globalThis.__waybridgeBrief ? "A url is required" : "A url is required outside of a page that comes from a server");
}

/** @param {string | URL} url */
export function socketURL(url) {
  const address = attempt(() => new URL(url, base()).href.replace(/^http/, "ws"));
  if (address !== undefined && /^wss?:/.test(address)) return address;
  throw invalid(`"${url}" is not a WebSocket URL`);
}

/** @param {string} what */
function invalid(what) {
  return failure("invalidParams", globalThis.__waybridgeBrief ? what : `${what}; give one such as "ws://127.0.0.1:8080/bridge"`);
}

/**
 * Returns the URL of the server's health check. It is next to the endpoint, so that the path prefix of a proxy is kept.
 * @param {string} endpoint
 */
export function healthOf(endpoint) {
  return new URL("health", endpoint.replace(/^ws/, "http"));
}

/**
 * Whether a host name denotes this machine.
 * @param {string} hostname as in `URL.hostname`
 */
export function isLoopback(hostname) {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** @returns {string | undefined} the base of relative URLs */
export function base() {
  return typeof location === "undefined" ? undefined : location.href;
}
