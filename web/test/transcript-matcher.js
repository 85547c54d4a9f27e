// @ts-check

/**
 * The captured values of one transcript, by name.
 * @typedef {Map<string, unknown>} Captures
 */

/**
 * Returns where a received value differs from a transcript. Captures the value of `{{name}}` when the name first occurs.
 * @param {any} expected
 * @param {any} actual
 * @param {Captures} captures
 * @returns {string | undefined} `undefined` if they match
 */
export function mismatch(expected, actual, captures, path = "$") {
  const differ = () => `${path}: expected ${JSON.stringify(expected)}, received ${JSON.stringify(actual)}`;
  if (typeof expected === "string") return matchesText(expected, actual, captures) ? undefined : differ();
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) {
    return Object.is(expected, actual) ? undefined : differ();
  }
  if (Array.isArray(expected) !== Array.isArray(actual)) return differ();
  const open = !Array.isArray(expected) && expected["..."] === true;
  const names = Object.keys(expected).filter((name) => !(open && name === "..."));
  for (const name of names) {
    if (!Object.hasOwn(actual, name)) return `${path}.${name}: expected ${JSON.stringify(expected[name])}, received nothing`;
    const found = mismatch(expected[name], actual[name], captures, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  const extra = open ? undefined : Object.keys(actual).find((name) => !names.includes(name));
  return extra === undefined ? undefined : `${path}.${extra}: unexpected, ${JSON.stringify(actual[extra])}`;
}

/**
 * Returns a received message, or a batch, without the numbers that a transcript does not name.
 * @param {any} expected
 * @param {any} actual
 * @returns {any}
 */
export function unnumbered(expected, actual) {
  if (Array.isArray(actual)) return actual.map((each, index) => unnumbered(expected?.[index], each));
  if (typeof actual !== "object" || actual === null || Object.hasOwn(Object(expected), "seq")) return actual;
  const { seq, ...rest } = actual;
  return rest;
}

/**
 * Fills in the captured values that a transcript names.
 * @param {any} value
 * @param {Captures} captures
 * @returns {any}
 */
export function filled(value, captures) {
  if (typeof value === "string") {
    const whole = /^\{\{(\w+)\}\}$/.exec(value);
    if (whole !== null) return captured(whole[1], captures);
    return value.replace(/\{\{(\w+)\}\}/g, (_, name) => String(captured(name, captures)));
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, captures));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, captures)]));
}

/**
 * @param {string} expected
 * @param {unknown} actual
 * @param {Captures} captures
 */
function matchesText(expected, actual, captures) {
  if (expected === "{{*}}") return true;
  const name = /^\{\{(\w+)\}\}$/.exec(expected)?.[1];
  if (name !== undefined && !captures.has(name)) {
    captures.set(name, actual);
    return true;
  }
  const wanted = filled(expected, captures);
  return typeof wanted === "object" ? mismatch(wanted, actual, new Map()) === undefined : Object.is(wanted, actual);
}

/**
 * @param {string} name
 * @param {Captures} captures
 */
function captured(name, captures) {
  if (!captures.has(name)) throw new Error(`the transcript uses {{${name}}} before it captures it`);
  return captures.get(name);
}
