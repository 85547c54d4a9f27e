// @ts-check

/** Maximum number of nested arrays and objects, as the protocol defines it. */
const MAX_DEPTH = 128;

/**
 * Returns why a reader that accepts only JSON as the protocol defines it would reject a message, or `undefined`.
 * @param {string} text
 */
export function strictFault(text) {
  const bytes = new TextEncoder().encode(text);
  // The encoder replaces halves of surrogate pairs, which then differ from the text.
  if (new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) !== text) return "not UTF-8";
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return String(error);
  }
  if (typeof value !== "object" || value === null) return "not a message";
  return faultIn(value, 1);
}

/**
 * @param {unknown} value
 * @param {number} level of the value, if it is an array or object
 * @returns {string | undefined}
 */
function faultIn(value, level) {
  if (typeof value === "string") return /\p{Cs}/u.test(value) ? "half of a surrogate pair" : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (level > MAX_DEPTH) return "too deep";
  for (const [name, each] of Object.entries(value)) {
    const fault = faultIn(name, level) ?? faultIn(each, level + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Returns a value nested in arrays.
 * @param {number} levels
 * @returns {unknown}
 */
export function nested(levels) {
  let value = /** @type {unknown} */ ("deep");
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

/** The first half of a surrogate pair. */
export const HALF = "😀".slice(0, 1);

/** @type {Record<string, unknown>} values that JSON does not have, that it loses without an error, or that no peer can read */
export const UNSENDABLE = {
  "half of an emoji": HALF,
  "the other half": `a${"😀".slice(1)}b`,
  "a name with a half": { [HALF]: 1 },
  NaN: NaN,
  Infinity: -Infinity,
  "a BigInt": 2n ** 64n,
  "a function": () => 1,
  "a symbol": Symbol("x"),
  "an ArrayBuffer": new Uint8Array([1, 2]).buffer,
  "a typed array": new Uint8Array([1, 2]),
  "a DataView": new DataView(new ArrayBuffer(2)),
  "a Blob": new Blob(["abc"]),
  "a Map": new Map([["a", 1]]),
  "a Set": new Set([1]),
  "an Error": new Error("x"),
  "a RegExp": /x/,
  "a Promise": Promise.resolve(1),
  "URLSearchParams": new URLSearchParams("a=1"),
  "a boxed NaN": Object(NaN),
  "a boxed half": Object(HALF),
  "a boxed BigInt": Object(1n),
  "an array that contains itself": circular(),
  "129 levels": nested(129),
  "1,000 levels": nested(1000),
  "100,000 levels": nested(100000),
  "a toJSON that throws": { toJSON: () => { throw new Error("no JSON"); } },
  "a toJSON that returns a Map": { toJSON: () => new Map() },
  "a property that throws": Object.defineProperty({}, "x", { enumerable: true, get: () => { throw new Error("no value"); } }),
};

function circular() {
  /** @type {unknown[]} */
  const array = [1];
  array.push({ again: array });
  return array;
}

/** A source of pseudo-random numbers. */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed + 1;
  }

  /** @param {number} count returns an integer from 0 to `count - 1` */
  below(count) {
    // The generator of Park and Miller.
    this.#state = (this.#state * 48271) % 2147483647;
    return this.#state % count;
  }

  /**
   * @template Value
   * @param {Value[]} values
   */
  one(values) {
    return values[this.below(values.length)];
  }

  /** Returns a string in which characters that need care are frequent. */
  text() {
    const parts = ["a", "Ü", "😀", "\u0000", "\u001f", "\t", "\"", "\\", "\\u", "\\ud83d", "\u2028", "\ufeff", "\uffff", "__proto__", "params.", "toJSON", "𝄞"];
    if (this.below(12) === 0) parts.push(HALF, HALF.concat("x"), "\udc00", "\ud800\ud800", "\udc00\ud800");
    return Array.from({ length: this.below(4) }, () => this.one(parts)).join("");
  }

  /**
   * Returns a value, which may be one that cannot be sent.
   * @param {number} [levels] of arrays and objects
   * @returns {unknown}
   */
  value(levels = this.below(6)) {
    if (levels === 0) {
      const simple = [null, true, false, undefined, 0, -0, 1.5, 1e300, -7, new Date(0), new URL("https://a.example/"), { toJSON: () => 5 }, Object(1), Object("x")];
      if (this.below(25) === 0) return this.one(Object.values(UNSENDABLE));
      return this.below(3) === 0 ? this.text() : this.one(simple);
    }
    const members = Array.from({ length: this.below(4) }, () => this.value(levels - 1));
    if (this.below(40) === 0) members.push(nested(120 + this.below(12)));
    return this.below(2) === 0 ? members : Object.fromEntries(members.map((each) => [this.text(), each]));
  }
}
