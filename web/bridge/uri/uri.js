// @ts-check
import { attempt } from "../values/errors.js";

/**
 * Returns the scheme of a URI in lower case, or `undefined`.
 * @param {string} uri
 */
export function schemeOf(uri) {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1].toLowerCase();
}

/**
 * Splits a URI or a pattern into the parts that are matched. The path is an array of segments; one trailing slash is ignored.
 * @param {string} text
 * @returns {{scheme: string | undefined, authority: string | undefined, path: string[], query: string | undefined}}
 */
export function split(text) {
  // The regular expression of RFC 3986, appendix B, without the fragment. It matches every string.
  const [, scheme, authority, rest = "", query] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text) ?? [];
  const path = rest.replace(/\/$/, "");
  return { scheme: scheme?.toLowerCase(), authority, path: path === "" ? [] : path.replace(/^\//, "").split("/"), query };
}

/**
 * Removes the dot segments from the path of a URI (RFC 3986, 5.2.4), including percent-encoded ones, as the server does before matching. The
 * rest of the URI stays unchanged; so does a string without a scheme.
 * @param {string} uri
 */
export function withoutDots(uri) {
  const [, start, path = "", end] = /^([A-Za-z][A-Za-z0-9+.-]*:(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/s.exec(uri) ?? [];
  const segments = path.split("/").map((each) => (/^(?:\.|%2e){1,2}$/i.test(each) ? decoded(each) : each));
  if (start === undefined || !segments.some(isDot)) return uri;
  /** @type {string[]} */
  const kept = [];
  for (const segment of segments) {
    if (!isDot(segment)) kept.push(segment);
    else if (segment === ".." && kept.length > 1) kept.pop();
    // The first segment is empty, or becomes so: ".." in a path without a slash at its start leaves one there.
    else if (segment === "..") kept.fill("");
  }
  if (isDot(segments[segments.length - 1])) kept.push("");
  const output = kept.join("/");
  // Without an authority, two slashes at the start of the path would be parsed as the start of one.
  return `${start}${start.endsWith(":") && output.startsWith("//") ? "/." : ""}${output}${end}`;
}

/**
 * The schemes that browsers parse, with the default port of a network host, or 0. Their URIs may have a "%" that is not encoded.
 * @type {Record<string, number | undefined>}
 */
const BROWSER_PORTS = { __proto__: /** @type {any} */ (null), http: 80, https: 443, ws: 80, wss: 443, ftp: 21, file: 0 };

/**
 * Returns the normal form of a URI, as the server makes it: percent-encodes what RFC 3986 does not allow and browsers leave, removes dot
 * segments, and gives a URL of a network host one spelling. A string without a scheme is encoded only beyond ASCII. Unlike the server, this
 * function rejects nothing.
 * @param {string} uri
 */
export function normalForm(uri) {
  const scheme = schemeOf(uri) ?? "";
  const port = BROWSER_PORTS[scheme];
  const isBrowserScheme = port !== undefined;
  const text = isBrowserScheme ? uri.replace(/ +$/, "").replace(/^[^?#]*/, (path) => path.replaceAll("\\", "/")) : uri;
  // Scheme and authority, then path, query and fragment.
  const [, start = text, rest = ""] = scheme === "" ? [] : /^([^:]*:(?:\/\/[^/?#]*)?)(.*)$/s.exec(text) ?? [];
  const fragment = rest.indexOf("#");
  const encoded = rest.replace(/[ "#<>[\\\]^`{|}]|%(?![\dA-F]{2})/gi, (found, index) => {
    const stays = found === "#" ? index === fragment : found === "%" && !isBrowserScheme;
    return stays ? found : encodeURIComponent(found);
  });
  const whole = port && start.includes("//") ? webStart(start, port) + encoded.replace(/^(?!\/)/, "/") : start + encoded;
  // Half a character of two UTF-16 units cannot be encoded.
  return withoutDots(whole.replace(/[^\0-\x7f\ud800-\udfff]/gu, encodeURIComponent));
}

/**
 * Returns scheme and authority of a URL without a default or empty port, triplets of the host and dots behind it.
 * @param {string} start
 * @param {number} defaultPort
 */
function webStart(start, defaultPort) {
  const [, head, host = "", port] = /^(.*?\/\/(?:[^@]*@)?)(\[.*\]|[^:@]*)(?::(\d*))?$/s.exec(start) ?? [];
  if (!head) return start;
  // An IPv6 address gets its shortest form.
  const name = host.startsWith("[") ? attempt(() => new URL(`http://${host}`).hostname) ?? host : decoded(host).replace(/\.+$/, "");
  return `${head}${name}${port && Number(port) !== defaultPort ? `:${Number(port)}` : ""}`;
}

/**
 * Whether a decoded segment is a dot segment, which RFC 3986 removes.
 * @param {string} segment
 */
export function isDot(segment) {
  return segment === "." || segment === "..";
}

/**
 * Parses the query of a URI like the server: a repeated key has an array, a key without `=` an empty string, and `+` is a space.
 * @param {string} uri
 * @returns {[string, string | string[]][]}
 */
export function queryOf(uri) {
  /** @type {Map<string, string | string[]>} */
  const found = new Map();
  for (const pair of (split(uri).query ?? "").split("&")) {
    if (pair === "") continue;
    const [, name = "", value = ""] = (/^([^=]*)=?(.*)$/s.exec(pair) ?? []).map((part) => decoded(part.replaceAll("+", " ")));
    const before = found.get(name);
    found.set(name, before === undefined ? value : [...(typeof before === "string" ? [before] : before), value]);
  }
  return [...found];
}

/**
 * Percent-decodes a string. Returns it unchanged if it is not validly encoded.
 * @param {string} text
 */
export function decoded(text) {
  return attempt(() => decodeURIComponent(text)) ?? text;
}
