// @ts-check
import { failure } from "../values/errors.js";

/** @typedef {Record<string, any>} Params */

/** A placeholder for the authority or a segment of the path, or the `*` for the rest of the path. */
const NAME = /(^[a-z][\w+.-]*:|\/)(?::([a-z_]\w*)(?=\/|$)|\*$)/gi;

/**
 * Replaces the placeholders of a URI by parameters, as in the pattern of a route: `native://address/:id`. The used parameters are removed from
 * the returned params.
 * @param {string} what the name of the called function
 * @param {string} uri
 * @param {Params | undefined} params
 * @returns {{uri: string, params: Params | undefined}}
 */
export function expandTemplate(what, uri, params) {
  if (typeof uri !== "string" || uri === "") {
    throw failure("invalidParams", `${what} needs a URI${globalThis.__waybridgeBrief ? "" : ` such as "native://address/7", but got ${shown(uri)}`}`);
  }
  const rest = { ...params };
  const [path] = uri.split(/[?#]/, 1);
  const filled = path.replace(NAME, (_, before, name = "*") => {
    const given = Object.hasOwn(rest, name) ? rest[name] : undefined;
    delete rest[name];
    const isText = typeof given === "string";
    const isRest = name === "*" && (isText || Array.isArray(given));
    if (isRest && given.length === 0) return "";
    /** @type {unknown[]} */
    const segments = isRest && isText ? given.split("/") : [given].flat();
    return before + segments.map((each) => {
      const text = ["string", "number", "boolean"].includes(typeof each) ? String(each) : "";
      // A segment of dots would change the path.
      if (!/^\.{0,2}$|\p{Cs}/u.test(text) || (isRest && text === "")) return encodeURIComponent(text);
      throw failure("invalidParams", `"${uri}" needs the parameter "${name}"${globalThis.__waybridgeBrief ? "" : ': a number, a boolean, or a string other than "", "." and "..", without halves of surrogate pairs'}`);
    }).join("/");
  });
  return filled === path ? { uri, params } : { uri: filled + uri.slice(path.length), params: rest };
}

/**
 * Returns the names of the placeholders of a URI, `*` for the rest of the path.
 * @param {string} uri
 */
export function placeholders(uri) {
  return [...uri.matchAll(NAME)].map(([, , name = "*"]) => name);
}

/** @param {unknown} value that is no URI */
function shown(value) {
  return value ? `a value of type ${typeof value}` : JSON.stringify(value);
}
