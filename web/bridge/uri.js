// @ts-check

/**
 * The scheme of a URI in lower case, or undefined.
 * @param {string} uri
 */
export function schemeOf(uri) {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1].toLowerCase();
}

/**
 * The parts of a URI, or of a pattern, that tell where it leads. The path is in segments; one slash at its end is ignored.
 * @param {string} text
 * @returns {{scheme: string | undefined, authority: string | undefined, path: string[], query: string | undefined}}
 */
export function split(text) {
  // The expression of RFC 3986, appendix B, without the fragment; it fits every text.
  const [, scheme, authority, rest = "", query] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text) ?? [];
  const path = rest.replace(/\/$/, "");
  return { scheme: scheme?.toLowerCase(), authority, path: path === "" ? [] : path.replace(/^\//, "").split("/"), query };
}

/**
 * A URI without the dot segments of its path, percent-encoded ones among them (RFC 3986, 5.2.4), as the server matches it. All
 * else stays as it is; so does a text without a scheme.
 * @param {string} uri
 */
export function withoutDots(uri) {
  const [, start, path = "", end] = /^([A-Za-z][A-Za-z0-9+.-]*:(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/s.exec(uri) ?? [];
  const segments = path.split("/").map((each) => (/^(?:\.|%2e){1,2}$/i.test(each) ? decoded(each) : each));
  if (start === undefined || !segments.some(isDot)) return uri;
  let input = segments.join("/");
  let output = "";
  while (input !== "") {
    if (/^\.\.?(?:\/|$)/.test(input)) input = input.replace(/^\.\.?\/?/, "");
    else if (/^\/\.(?:\/|$)/.test(input)) input = `/${input.slice(3)}`;
    else if (/^\/\.\.(?:\/|$)/.test(input)) {
      input = `/${input.slice(4)}`;
      output = output.slice(0, Math.max(0, output.lastIndexOf("/")));
    } else {
      const segment = /^\/?[^/]*/.exec(input)?.[0] ?? input;
      output += segment;
      input = input.slice(segment.length);
    }
  }
  // Without an authority, a path that begins with two slashes would be read as one.
  return `${start}${start.endsWith(":") && output.startsWith("//") ? "/." : ""}${output}${end}`;
}

/**
 * Whether a decoded segment is one that RFC 3986 removes.
 * @param {string} segment
 */
export function isDot(segment) {
  return segment === "." || segment === "..";
}

/**
 * A URI's query as the server reads it: a repeated key is a list, one without `=` an empty text, `+` a space.
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
 * Percent-decoded, where that gives text.
 * @param {string} text
 */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
