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
      // Segments of dots lead elsewhere.
      if (!/^\.{0,2}$/.test(text) || (isRest && text === "")) return encodeURIComponent(text);
      throw failure("invalidParams", `${uri} needs the parameter ${name}${globalThis.__waybridgeBrief ? "" : ': a number, a boolean, or a text other than "", "." and ".."'}`);
    }).join("/");
  });
  return filled === path ? { uri, params } : { uri: filled + uri.slice(path.length), params: rest };
}
