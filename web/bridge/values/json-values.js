// @ts-check

/** Maximum number of nested arrays and objects in a message. The message itself is the first. */
const MAX_DEPTH = 128;
/** Maximum number of steps of a path in an error message. */
const MAX_STEPS = 16;

/**
 * Whether a value is a plain object. It may come from another window, with an `Object` of its own.
 * @param {unknown} value
 */
export function isPlain(value) {
  // The prototype of a primitive value has a prototype itself.
  const prototype = Object.getPrototypeOf(value ?? 0);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Whether a string contains half of a surrogate pair, which UTF-8 cannot encode.
 * @param {string} text
 */
export function hasHalfPair(text) {
  return /\p{Cs}/u.test(text);
}

/**
 * Replaces each half of a surrogate pair by U+FFFD.
 * @param {string} text
 */
export function withoutHalfPairs(text) {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}

/**
 * Encodes a message as JSON that every peer can read. A property with the value `undefined` is left out, and `toJSON` applies, as in
 * `JSON.stringify`. Throws a `TypeError` that names the path of a value that JSON cannot represent, or that it would lose without an error,
 * such as a `Map`.
 * @param {object} message
 * @returns {string}
 */
export function encode(message) {
  /** @type {unknown[]} the arrays and objects around the current value, outermost first, then the value itself */
  const holders = [];
  /** @type {string[]} their names */
  const names = [];
  return JSON.stringify(message, /** @this {unknown} */ function (name, value) {
    const depth = holders.lastIndexOf(this) + 1;
    names[depth] = name;
    holders[depth] = value;
    const fault = faultOf(name, value, depth, holders);
    if (fault === undefined) return value;
    const path = names.slice(1, depth + 1);
    throw new TypeError(`${globalThis.__waybridgeBrief ? path.join(".") : pathOf(path)} ${fault}`);
  });
}

/**
 * @param {string} name
 * @param {any} value
 * @param {number} depth the number of arrays and objects around the value
 * @param {unknown[]} holders these, then the value
 */
function faultOf(name, value, depth, holders) {
  const type = Object.prototype.toString.call(value).slice(8, -1);
  if (hasHalfPair(name) || (type === "String" && hasHalfPair(value))) {
    return globalThis.__waybridgeBrief ? "has a lone surrogate" : "has half of a surrogate pair (an emoji cut in two?); cut strings at code points";
  }
  const kind = type === "Number" ? `${value}` : type;
  if (!/^(Object|Array|String|Boolean|Null|Undefined|-?\d.*)$/.test(kind)) {
    return globalThis.__waybridgeBrief ? `is ${kind}` : `is ${kind}, which JSON does not have; convert it first`;
  }
  if (Object(value) !== value) return undefined;
  // `JSON.stringify` would detect it too, but its error does not have the path.
  if (!globalThis.__waybridgeBrief && holders.indexOf(value) < depth) return "contains itself";
  if (depth < MAX_DEPTH) return undefined;
  return globalThis.__waybridgeBrief ? "is too deep" : `is nested too deeply; a message can have ${MAX_DEPTH} levels`;
}

/**
 * Returns the path of a value in a message, such as `params.items[3].title`. Parameters of the method are named without the message's
 * `params` in front.
 * @param {string[]} names those of the arrays and objects around it, and its own
 */
function pathOf(names) {
  const steps = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : /^\w+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`));
  return `${steps.slice(0, MAX_STEPS).join("")}${steps.length > MAX_STEPS ? "…" : ""}`.slice(1).replace(/^params\./, "");
}

/**
 * Returns the number of bytes of a string in UTF-8.
 * @param {string} text
 */
export function sizeOf(text) {
  return new TextEncoder().encode(text).length;
}
