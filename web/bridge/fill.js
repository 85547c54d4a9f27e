// @ts-check
import { failure } from "./errors.js";

/** @typedef {Record<string, any>} Params */

/** A name that stands for the authority, or for a segment of the path, or the `*` for the rest of that. */
const NAME = /(^[a-z][\w+.-]*:|\/)(?::([a-z_]\w*)(?=\/|$)|\*$)/gi;

/**
 * Puts parameters into a URI in which names stand for them, as in the pattern of a route: `native://address/:id`. What stands in the URI
 * then is no longer among the parameters.
 * @param {string} uri
 * @param {Params | undefined} params
 * @returns {{uri: string, params: Params | undefined}}
 */
export function fill(uri, params) {
  const rest = { ...params };
  const [path] = /^[^?#]*/.exec(uri) ?? [uri];
  const filled = path.replace(NAME, (_, before, name = "*") => {
    const given = Object.hasOwn(rest, name) ? rest[name] : undefined;
    delete rest[name];
    const isRest = name === "*" && (typeof given === "string" || Array.isArray(given));
    const segments = typeof given === "string" && isRest ? given.split("/") : [given].flat();
    return isRest && given.length === 0 ? "" : before + segments.map((each) => written(each, name, uri, isRest)).join("/");
  });
  return filled === path ? { uri, params } : { uri: filled + uri.slice(path.length), params: rest };
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {string} uri
 * @param {boolean} mayBeEmpty
 */
function written(value, name, uri, mayBeEmpty) {
  const text = ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
  // Segments of dots lead elsewhere.
  if (text === "." || text === ".." || (text === "" && !mayBeEmpty)) {
    throw failure("invalidParams", `${uri} needs the parameter ${name}: a number, a boolean, or a text other than "", "." and ".."`);
  }
  return encodeURIComponent(text);
}
