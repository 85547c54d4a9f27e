export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;
const MEBIBYTE = 1_048_576;

/** A client's frame (RFC 6455 §5.2). `form` is 7, 16 or 64: the number of bits of the length field. */
export function frame(opcode, payload, { isLast = true, reserved = 0, mask = Buffer.alloc(4), form, length = payload.length } = {}) {
  form ??= length < 126 ? 7 : length < 65_536 ? 16 : 64;
  const head = [(isLast ? 0x80 : 0) | (reserved << 4) | opcode, (mask ? 0x80 : 0) | (form === 7 ? length : form === 16 ? 126 : 127)];
  const extended = Buffer.alloc(form === 7 ? 0 : form / 8);
  if (form === 16) extended.writeUInt16BE(length);
  if (form === 64) extended.writeBigUInt64BE(BigInt(length));
  const body = mask?.some((byte) => byte !== 0) ? payload.map((byte, index) => byte ^ mask[index % 4]) : payload;
  return Buffer.concat([Buffer.from(head), extended, mask ?? Buffer.alloc(0), body]);
}

export function closeFrame(code, reason = "") {
  return Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
}

const range = (count, make) => Array.from({ length: count }, (_, index) => make(index));

function randomMask(random) {
  return Buffer.from([random.below(256), random.below(256), random.below(256), random.below(256)]);
}

/** A fragmented message, with control frames between the fragments. */
function parts(payload, random) {
  const cuts = range(1 + random.below(6), () => random.below(payload.length + 1)).sort((one, other) => one - other);
  const ends = [...cuts, payload.length];
  const frames = [];
  ends.forEach((end, index) => {
    const begin = index === 0 ? 0 : ends[index - 1];
    const isLast = index === ends.length - 1;
    frames.push(frame(index === 0 ? TEXT : 0, payload.subarray(begin, end), { isLast, mask: randomMask(random) }));
    if (!isLast && random.chance(0.5)) {
      frames.push(frame(random.chance(0.7) ? PING : PONG, Buffer.alloc(random.below(126), "p"), { mask: randomMask(random) }));
    }
  });
  return frames;
}

/**
 * A text message as changed frames: `{what, chunks, closes}`. `closes` are the codes with which the server must
 * close; undefined if it must accept the message. `isWild` is set if any behaviour is possible.
 */
export function mutatedFrames(payload, random) {
  const whole = (options) => [frame(TEXT, payload, { mask: randomMask(random), ...options })];
  const control = random.pick([CLOSE, PING, PONG]);
  const unfinished = frame(TEXT, payload.subarray(0, payload.length / 2), { isLast: false });
  const endless = (index) => frame(index === 0 ? TEXT : 0, Buffer.alloc(MEBIBYTE / 4, "x"), { isLast: false });
  const broken = (what, chunks, ...closes) => ({ what, chunks, closes: closes.length > 0 ? closes : [1002] });
  return random.weighted([
    [6, () => ({ what: "fragments", chunks: parts(payload, random) })],
    [3, () => ({ what: "chopped fragments", chunks: chopped(Buffer.concat(parts(payload, random)), random) })],
    [2, () => ({ what: "an unsolicited pong", chunks: [frame(PONG, Buffer.alloc(random.below(126))), ...whole()] })],
    [2, () => broken("a reserved bit", whole({ reserved: 1 + random.below(7) }))],
    [2, () => broken("a reserved opcode", [frame(random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), payload)])],
    [2, () => broken("an unmasked frame", whole({ mask: null }))],
    [2, () => broken("a length that is not minimal", whole({ form: payload.length < 126 ? random.pick([16, 64]) : 64 }))],
    [2, () => broken("an oversized control frame", [frame(control, Buffer.alloc(126 + random.below(400), "c"))])],
    [1, () => broken("a control frame with a length of 16 bits", [frame(control, Buffer.from("ccc"), { form: 16 })])],
    [1, () => broken("a control frame in parts", [frame(control, control === CLOSE ? closeFrame(1000) : Buffer.from("c"), { isLast: false })])],
    [1, () => broken("the end of nothing", [frame(0, payload)])],
    [1, () => broken("a message within a message", [unfinished, ...whole()])],
    [1, () => broken("a binary message", [frame(BINARY, payload)], 1003)],
    [1, () => broken("a length beyond all limits", [frame(TEXT, Buffer.alloc(20), { length: random.pick([2 ** 21, 2 ** 40, 2 ** 52]) })], 1009, 1002)],
    [1, () => broken("a length of 64 bits", [Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0]), payload], 1002, 1009)],
    [0.3, () => broken("parts without an end", range(5, endless), 1009)],
    [1, () => broken("a wrong close frame", [frame(CLOSE, random.pick([
      Buffer.from([3]), closeFrame(random.pick([0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535])), Buffer.concat([closeFrame(1000), Buffer.from([0xff, 0xfe])]),
    ]))], 1002, 1007)],
    [1, () => {
      const code = random.pick([1000, 1001, 3000, 4999]);
      return broken("a close frame", [frame(CLOSE, closeFrame(code, "bye")), ...whole()], code);
    }],
    [1, () => broken("an empty close frame", [frame(CLOSE, Buffer.alloc(0))], 1000, 1005)],
    [1, () => broken("parts that are no UTF-8", [unfinished, frame(0, Buffer.from([0xc3]))], 1007)],
    [3, () => ({ what: "flipped bits", chunks: [flipped(Buffer.concat(parts(payload, random)), random)], isWild: true })],
  ])();
}

/** The same bytes in other chunks. */
function chopped(bytes, random) {
  const chunks = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(random.chance(0.5) ? 4 : 200);
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}

/** Frames with some of their bits changed. */
function flipped(bytes, random) {
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    // The header of the first frame has the most effect.
    const at = random.below(random.chance(0.6) ? Math.min(14, bytes.length) : bytes.length);
    bytes[at] ^= 1 << random.below(8);
  }
  return bytes;
}
