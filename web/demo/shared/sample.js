// @ts-check

/** @typedef {Record<string, any>} Schema the schema of a value, without references to named types */
/** @typedef {Record<string, any>} Route one of the server's */

/** @type {Record<string, string>} */
const formats = {
  "date-time": "2026-05-17T09:30:00Z",
  date: "2026-05-17",
  time: "09:30:00Z",
  email: "mira@shop.example",
  uri: "https://shop.example/",
  uuid: "3f2b8c1e-6d0a-4b57-9a3e-52c7d1f0e894",
};

/** @type {Record<string, unknown>} values of the demo for parameters of these names */
const known = {
  id: "a2", sku: "trail-mug", number: 1042, person: "7", place: "Bergen", time: "in spring", line: "5", post: "ridge-at-dawn",
  app: "maps", uri: "geo:60.4,5.3", i: "geo:60.4,5.3", "*": ["returns"],
};

/**
 * Returns a value that fits a schema: its default, the first allowed value, or an invented one.
 * @param {Schema} schema
 * @param {string} [name] of the member; an unrestricted string gets this value
 * @returns {any}
 */
export function sample(schema, name = "something") {
  if ("default" in schema) return schema.default;
  if (schema.enum) return schema.enum[0];
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string": return formats[schema.format] ?? name.padEnd(schema.minLength ?? 0, "x").slice(0, schema.maxLength);
    case "integer": return Math.ceil(between(schema));
    case "number": return between(schema);
    case "boolean": return true;
    case "array": {
      const count = Math.min(Math.max(schema.minItems ?? 0, 1), schema.maxItems ?? 1);
      return Array.from({ length: count }, () => sample(schema.items ?? { type: "string" }, name));
    }
    case "object": {
      const members = Object.entries(schema.properties ?? {});
      return Object.fromEntries(members.map(([member, of]) => [member, sample(of, member)]));
    }
    default: return null;
  }
}

/** @param {Schema} schema */
function between({ minimum = -Infinity, maximum = Infinity }) {
  return Math.min(Math.max(1, minimum), maximum);
}

/**
 * Returns valid parameters: the required ones, and those of `names`.
 * @param {Schema} declared of a route or of a method: `parameters` and `required`
 * @param {string[]} [names]
 * @returns {Record<string, any>}
 */
export function sampleParams({ parameters = {}, required = [] }, names = []) {
  return Object.fromEntries([...new Set([...required, ...names])].map((name) =>
    [name, known[name] ?? sample(parameters[name] ?? { type: "string" }, name)]));
}

/**
 * Returns a valid call of a route: its first pattern without optional groups, and valid parameters.
 * @param {Route} route
 * @returns {{uri: string, params: Record<string, any>}}
 */
export function sampleCall(route) {
  const pattern = route.patterns[0].replace(/\([^)]*\)/g, "");
  // A colon before a name; that of the scheme stands before a slash.
  const names = [...pattern.matchAll(/:(\w+)|\*$/g)].map(([all, name]) => name ?? all);
  const params = sampleParams(route, names);
  let uri = pattern;
  for (const name of names) {
    const segments = [params[name]].flat().map((segment) => encodeURIComponent(String(segment)));
    uri = uri.replace(name === "*" ? /\*$/ : `:${name}`, segments.join("/"));
    delete params[name];
  }
  return { uri, params };
}
