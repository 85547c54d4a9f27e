/** Bytes that are not UTF-8: cut, overlong, surrogates, beyond the last code point. */
const WRONG = ["80", "c3", "c0af", "e2", "e282", "eda080", "edbfbf", "f4908080", "f8888080", "ff", "fe"].map((hex) => Buffer.from(hex, "hex"));
const SIGNS = Buffer.from('{}[]",:\\0123456789eE+-.tfn \t\n\u0000');

/** Changes the bytes of a text. */
export function mutatedBytes(text, random) {
  let bytes = Buffer.from(text);
  for (let count = 1 + random.below(4); count > 0; count -= 1) bytes = changed(bytes, random);
  return bytes;
}

function changed(bytes, random) {
  const at = random.below(bytes.length + 1);
  const end = at + random.below(Math.min(40, bytes.length - at + 1));
  const insert = (part) => Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]);
  return random.weighted([
    [4, () => {
      const copy = Buffer.from(bytes);
      // The highest bit rarely: invalid UTF-8 closes the connection.
      if (at < copy.length) copy[at] ^= 1 << random.below(random.chance(0.1) ? 8 : 7);
      return copy;
    }],
    [3, () => {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = SIGNS[random.below(SIGNS.length)];
      return copy;
    }],
    [2, () => bytes.subarray(0, at)],
    [2, () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])],
    [2, () => insert(bytes.subarray(at, end))],
    [2, () => insert(SIGNS.subarray(random.below(SIGNS.length)).subarray(0, 1 + random.below(3)))],
    [1, () => insert(Buffer.from(Array.from({ length: random.below(20) }, () => random.below(128))))],
    [0.2, () => insert(random.pick(WRONG))],
  ])();
}
