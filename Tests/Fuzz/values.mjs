/** A text that is written unchanged: numbers that JavaScript does not have, and invalid JSON. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** An object as pairs of names and values, so that it can have duplicate names. */
export class Members {
  constructor(pairs) {
    this.pairs = pairs;
  }
}

/** A parsed value as a tree that can be changed. */
export function tree(value) {
  if (Array.isArray(value)) return value.map(tree);
  if (typeof value !== "object" || value === null) return value;
  return new Members(Object.entries(value).map(([name, each]) => [name, tree(each)]));
}

export function write(value) {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (value instanceof Members) return `{${value.pairs.map(([name, each]) => `${JSON.stringify(name)}:${write(each)}`).join(",")}}`;
  return JSON.stringify(value);
}

const URIS = [
  "", ":", "native:", "native:/", "native:///", "native://home/../home", "native://address/%00", "native://address/%zz", "native://[::1", "native://a@b:99999/",
  "//home", "/", "?a", "#", "action://echo?a&a=1&a[]=2&=&%3d=%26", "tp://maps?i=tp%3A%2F%2Fmaps", "navigation:back?count=-1", "native://\u202e\u0000", "https://example.org/a",
];
const TEXTS = ["", "x", "\u0000", "\u0001\u001f\u007f", "é\u0301", "😀", "\\", "\"", "__proto__", "2.0", "*", "$/", "p1", "all", "-1", "null"];
const NUMBERS = [
  "0", "-0", "1", "-1", "1.0", "1e3", "5.5", "1e400", "-1e-400", "2147483648", "9007199254740993", "9223372036854775808", "18446744073709551616",
  "9".repeat(400), `0.${"3".repeat(300)}`, "1E+2",
];
/** Invalid JSON. */
const BROKEN = ["01", "+1", "1.", ".5", "NaN", "Infinity", "'x'", '"\\ud800"', '"\\x41"', '"\\u00g0"', "", "{,}", "[1,]", "tru", "/**/1", '"\n"', "\ufeff1"];

/** Changes messages in their structure. Replacement values come from the transcripts as far as possible. */
export class ValueMutator {
  #texts;
  #names;
  #methods;

  /** @param messages all messages that clients send in the transcripts */
  constructor(messages) {
    const texts = new Set([...TEXTS, ...URIS]);
    const names = new Set();
    const methods = new Set(["$/cancelRequest", "$/progress", "$/ack", "event", "__proto__"]);
    const look = (value) => {
      if (typeof value === "string" && value.length < 200) texts.add(value);
      if (typeof value !== "object" || value === null) return;
      if (typeof value.method === "string") methods.add(value.method);
      for (const [name, each] of Object.entries(value)) {
        if (!Array.isArray(value)) names.add(name);
        look(each);
      }
    };
    messages.forEach(look);
    [this.#texts, this.#names, this.#methods] = [[...texts], [...names], [...methods]];
  }

  /** Returns the text of a message after some changes. */
  mutated(message, random) {
    const holder = [tree(message)];
    for (let count = 1 + random.below(3); count > 0; count -= 1) this.#change(holder, random);
    return write(this.#packed(holder[0], random));
  }

  /** Sometimes puts the message in a batch. */
  #packed(value, random) {
    if (!random.chance(0.1)) return value;
    return random.weighted([
      [4, Array.from({ length: 1 + random.below(5) }, () => value)],
      [1, Array.from({ length: 95 + random.below(12) }, () => value)],
      [1, [[value]]],
      [1, new Raw(`${write(value)}${random.pick([" ", ",", "", "\n"])}${write(value)}`)],
      [1, new Raw(`${" \n\t\r".repeat(random.below(1000))}${write(value)} `)],
    ]);
  }

  /** Changes one node, given an array that contains the root. */
  #change(holder, random) {
    const places = [];
    const look = (parent) => {
      const values = parent instanceof Members ? parent.pairs : parent;
      values.forEach((entry, index) => {
        const value = parent instanceof Members ? entry[1] : entry;
        places.push({ parent, index });
        if (value instanceof Members || Array.isArray(value)) look(value);
      });
    };
    look(holder);
    const { parent, index } = random.pick(places);
    const list = parent instanceof Members ? parent.pairs : parent;
    const isMember = parent instanceof Members;
    const value = isMember ? list[index][1] : list[index];
    const put = (other) => (isMember ? (list[index] = [list[index][0], other]) : (list[index] = other));
    const other = random.pick(places);
    random.weighted([
      [8, () => put(this.#any(random))],
      [3, () => (parent === holder ? put([]) : list.splice(index, 1))],
      [2, () => parent === holder || list.splice(random.below(list.length + 1), 0, isMember ? [...list[index]] : value)],
      [2, () => put(this.#nested(value, random))],
      [2, () => isMember && (list[index] = [random.pick(this.#names), value])],
      [2, () => isMember && list.push([random.pick(this.#names), this.#any(random)])],
      [2, () => isMember && list[index][0] === "method" && put(random.pick(this.#methods))],
      [2, () => put(write(other.parent === holder ? 0 : other.parent).length < 5_000 ? new Raw(write(other.parent)) : null)],
      [1, () => put(this.#huge(random))],
      [1, () => put(new Raw(random.pick(BROKEN)))],
    ])();
  }

  #any(random) {
    return random.weighted([
      [4, () => random.pick(this.#texts)], [2, () => random.pick(this.#methods)], [2, () => random.pick(URIS)],
      [4, () => new Raw(random.pick(NUMBERS))], [1, () => null], [1, () => random.chance(0.5)], [1, () => []], [1, () => new Members([])],
      [1, () => [this.#any(random)]], [1, () => new Members([[random.pick(this.#names), this.#any(random)]])],
    ])();
  }

  #nested(value, random) {
    const depth = random.weighted([[4, 1 + random.below(4)], [2, 120 + random.below(16)], [1, 5_000]]);
    const text = write(value);
    if (random.chance(0.5)) return new Raw(`${"[".repeat(depth)}${text}${"]".repeat(depth)}`);
    return new Raw(`${'{"a":'.repeat(depth)}${text}${"}".repeat(depth)}`);
  }

  #huge(random) {
    const size = 1 << random.below(18);
    return random.weighted([
      [3, () => random.pick(["x", "é", "\u0001", "/", "%2f", "a/"]).repeat(size)],
      [2, () => `native://address/${"a/".repeat(size / 2)}`],
      [2, () => new Raw("1".repeat(size))],
      [2, () => new Raw(`[${"0,".repeat(size / 2)}0]`)],
      [1, () => new Raw(`{${Array.from({ length: size / 16 + 1 }, (_, index) => `"k${index}":${index}`).join(",")}}`)],
    ])();
  }
}
