// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Numbers } from "../bridge/numbers.js";

test("each message is numbered and kept until it is acknowledged", () => {
  const numbers = new Numbers();
  assert.deepEqual(numbers.give('{"a":1}'), { seq: 1, text: '{"seq":1,"a":1}' });
  assert.deepEqual(numbers.give('{"b":2}'), { seq: 2, text: '{"seq":2,"b":2}' });
  assert.deepEqual(numbers.unacknowledged, ['{"seq":1,"a":1}', '{"seq":2,"b":2}']);
  assert.equal(numbers.acknowledged(1), true);
  assert.deepEqual(numbers.unacknowledged, ['{"seq":2,"b":2}']);
});

/** @type {[unknown, boolean, number][]} what is acknowledged of three, whether it can be, how many are kept then */
const ACKS = [[0, true, 3], [1, true, 2], [3, true, 0], [4, false, 3], [-1, false, 3], [1.5, false, 3], ["1", false, 3], [undefined, false, 3]];
for (const [seq, isPossible, kept] of ACKS) {
  test(`an acknowledgement of ${JSON.stringify(seq)} of three ${isPossible ? `leaves ${kept}` : "is of none that was sent"}`, () => {
    const numbers = new Numbers();
    for (let count = 0; count < 3; count += 1) numbers.give('{"a":1}');
    assert.equal(numbers.acknowledged(seq), isPossible);
    assert.equal(numbers.unacknowledged.length, kept);
    assert.equal(numbers.acknowledged(0), true, "what was acknowledged before is no matter");
  });
}

test("who goes on has taken no less than it acknowledged, and no more than was sent", () => {
  const numbers = new Numbers();
  for (let count = 0; count < 3; count += 1) numbers.give('{"a":1}');
  numbers.acknowledged(2);
  assert.deepEqual([1, 4, undefined, "2", 2, 3].map((seq) => numbers.resumed(seq)), [false, false, false, false, true, true]);
});

/** @type {[unknown, "next" | "had" | "gap"][]} after two were taken */
const TAKES = [[3, "next"], [2, "had"], [1, "had"], [4, "gap"], [0, "gap"], [-3, "gap"], [2.5, "gap"], ["3", "gap"], [undefined, "gap"], [null, "gap"]];
for (const [seq, expected] of TAKES) {
  test(`after 2, ${JSON.stringify(seq)} is ${expected}`, () => {
    const numbers = new Numbers(0, 2);
    assert.equal(numbers.take(seq, 10), expected);
    assert.equal(numbers.received, expected === "next" ? 3 : 2);
  });
}

test("an acknowledgement is due after 32 messages or 64 KiB, and is owed before", () => {
  const numbers = new Numbers();
  assert.equal(numbers.owes, false);
  for (let seq = 1; seq < 32; seq += 1) numbers.take(seq, 10);
  assert.deepEqual([numbers.owes, numbers.isDue], [true, false]);
  numbers.take(32, 10);
  assert.equal(numbers.isDue, true);
  assert.deepEqual([numbers.tell(), numbers.owes, numbers.isDue], [32, false, false]);
  numbers.take(33, (64 << 10) / 3 - 1);
  assert.equal(numbers.isDue, false);
  numbers.take(34, 1);
  assert.equal(numbers.isDue, true, "a unit may be three bytes");
  numbers.tell();
  assert.equal(numbers.isDue, false);
});

test("what can wait has room for 1,024 messages and 4 MiB, and for one of any size", () => {
  const numbers = new Numbers();
  for (let count = 0; count < 1023; count += 1) numbers.give('{"a":1}');
  assert.equal(numbers.hasRoom, true);
  numbers.give('{"a":1}');
  assert.equal(numbers.hasRoom, false);
  numbers.acknowledged(1024);
  assert.equal(numbers.hasRoom, true);
  numbers.give(`{"a":"${"x".repeat(5 << 20)}"}`);
  assert.equal(numbers.hasRoom, false);
  numbers.acknowledged(1025);
  assert.equal(numbers.hasRoom, true);
});

/** @param {number} seed */
function chance(seed) {
  let state = seed >>> 0;
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One side of a connection that is lost again and again. */
class Side {
  numbers = new Numbers();
  /** @type {(number | {ack: number})[]} on the way to the other side */
  wire = [];
  /** @type {number[]} what the other side's application has said, as it came */
  heard = [];
  said = 0;

  say(isConnected = true) {
    this.said += 1;
    const { text } = this.numbers.give(JSON.stringify({ said: this.said }));
    if (isConnected) this.wire.push(JSON.parse(text));
  }

  acknowledge() {
    if (this.numbers.owes) this.wire.push({ ack: this.numbers.tell() });
  }

  /** @param {any} message */
  hear(message) {
    if (message.ack !== undefined) return assert(this.numbers.acknowledged(message.ack));
    const found = this.numbers.take(message.seq, 1);
    assert.equal(found, "next", `${JSON.stringify(message)} after ${this.numbers.received}`);
    this.heard.push(message.said);
  }

  /** @param {number} received what the other side has taken */
  goOn(received) {
    assert(this.numbers.resumed(received));
    this.wire.push(...this.numbers.unacknowledged.map((text) => JSON.parse(text)));
  }
}

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));

test(`over lost connections all comes once and in its order (SEED=${SEED})`, (t) => {
  t.diagnostic(`SEED=${SEED}`);
  const random = chance(SEED);
  const sides = [new Side(), new Side()];
  let isConnected = true;
  const connect = () => {
    const received = sides.map(({ numbers }) => numbers.received);
    sides[0].goOn(received[1]);
    sides[1].goOn(received[0]);
    isConnected = true;
  };
  for (let step = 0; step < 20000; step += 1) {
    const which = random() < 0.5 ? 0 : 1;
    const [side, other] = [sides[which], sides[1 - which]];
    const what = random();
    if (what < 0.45) side.say(isConnected);
    else if (!isConnected) connect();
    else if (what < 0.9 && side.wire.length > 0) other.hear(side.wire.shift());
    else if (what < 0.98) side.acknowledge();
    else {
      // What is on the way is lost, all of it behind some point.
      for (const each of sides) each.wire = [];
      isConnected = false;
    }
  }
  for (const each of sides) each.wire = [];
  connect();
  for (const which of [0, 1]) while (sides[which].wire.length > 0) sides[1 - which].hear(sides[which].wire.shift());
  for (const which of [0, 1]) {
    const expected = Array.from({ length: sides[1 - which].said }, (_, index) => index + 1);
    assert.deepEqual(sides[which].heard, expected);
    sides[which].acknowledge();
  }
  for (const which of [0, 1]) while (sides[which].wire.length > 0) sides[1 - which].hear(sides[which].wire.shift());
  assert.deepEqual(sides.map(({ numbers }) => numbers.unacknowledged.length), [0, 0]);
});

test(`over restarts of the other side all comes, and what that had acknowledged comes once (SEED=${SEED})`, () => {
  const random = chance(SEED + 1);
  const client = new Side();
  let server = new Numbers();
  /** @type {number[]} how often the server has heard each of what the client has said */
  const heard = [0];
  let isSure = 0;
  for (let step = 0; step < 20000; step += 1) {
    const what = random();
    const next = /** @type {any} */ (client.wire[0]);
    if (what < 0.4) {
      client.say();
      heard.push(0);
    } else if (what < 0.85 && next !== undefined) {
      client.wire.shift();
      assert.equal(server.take(next.seq, 1), "next");
      heard[next.said] += 1;
      if (next.said <= isSure) assert.equal(heard[next.said], 1, `${next.said} was acknowledged before`);
    } else if (what < 0.95 && server.owes) {
      isSure = server.tell();
      assert(client.numbers.acknowledged(isSure));
    } else if (what > 0.98) {
      // Of what it has not acknowledged the server remembers some.
      const received = isSure + Math.floor(random() * (server.received - isSure + 1));
      server = new Numbers(0, received);
      client.wire = [];
      assert.equal(client.numbers.sent, client.said);
      client.goOn(received);
      // Who says up to where it has taken has acknowledged that.
      isSure = received;
    }
  }
  for (const { said } of /** @type {any[]} */ (client.wire)) heard[said] += 1;
  assert.deepEqual(heard.slice(1).filter((count) => count === 0), []);
  assert.equal(heard.length, client.said + 1);
});
