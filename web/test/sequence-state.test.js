// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { SequenceState } from "../bridge/session/sequence-state.js";

test("each message is numbered and stored until it is acknowledged", () => {
  const sequence = new SequenceState();
  assert.deepEqual(sequence.append('{"a":1}'), { seq: 1, text: '{"seq":1,"a":1}' });
  assert.deepEqual(sequence.append('{"b":2}'), { seq: 2, text: '{"seq":2,"b":2}' });
  assert.deepEqual(sequence.unacknowledged, ['{"seq":1,"a":1}', '{"seq":2,"b":2}']);
  assert.equal(sequence.acknowledged(1), true);
  assert.deepEqual(sequence.unacknowledged, ['{"seq":2,"b":2}']);
});

/** @type {[unknown, boolean, number][]} the acknowledgement of three messages, whether it is possible, how many messages remain stored */
const ACKS = [[0, true, 3], [1, true, 2], [3, true, 0], [4, false, 3], [-1, false, 3], [1.5, false, 3], ["1", false, 3], [undefined, false, 3]];
for (const [seq, isPossible, kept] of ACKS) {
  test(`an acknowledgement of ${JSON.stringify(seq)} of three ${isPossible ? `leaves ${kept}` : "is for a message that was never sent"}`, () => {
    const sequence = new SequenceState();
    for (let count = 0; count < 3; count += 1) sequence.append('{"a":1}');
    assert.equal(sequence.acknowledged(seq), isPossible);
    assert.equal(sequence.unacknowledged.length, kept);
    assert.equal(sequence.acknowledged(0), true, "an earlier acknowledgement is accepted");
  });
}

test("a resuming peer has received at least what it acknowledged, and at most what was sent", () => {
  const sequence = new SequenceState();
  for (let count = 0; count < 3; count += 1) sequence.append('{"a":1}');
  sequence.acknowledged(2);
  assert.deepEqual([1, 4, undefined, "2", 2, 3].map((seq) => sequence.resumed(seq)), [false, false, false, false, true, true]);
});

/** @type {[unknown, "next" | "duplicate" | "gap"][]} after two received messages */
const TAKES = [[3, "next"], [2, "duplicate"], [1, "duplicate"], [4, "gap"], [0, "gap"], [-3, "gap"], [2.5, "gap"], ["3", "gap"], [undefined, "gap"], [null, "gap"]];
for (const [seq, expected] of TAKES) {
  test(`after 2, ${JSON.stringify(seq)} is ${expected}`, () => {
    const sequence = new SequenceState(0, 2);
    assert.equal(sequence.receive(seq, 10), expected);
    assert.equal(sequence.received, expected === "next" ? 3 : 2);
  });
}

test("the first message that is not acknowledged can be replaced, and keeps its number", () => {
  const sequence = new SequenceState();
  sequence.replaceFirst(() => assert.fail("there is none"));
  for (const text of ['{"a":1}', '{"a":2}', '{"a":3}']) sequence.append(text);
  assert(sequence.acknowledged(1));
  sequence.replaceFirst((text, seq) => {
    assert.deepEqual([text, seq], ['{"seq":2,"a":2}', 2]);
    return '{"other":true}';
  });
  assert.deepEqual(sequence.unacknowledged, ['{"seq":2,"other":true}', '{"seq":3,"a":3}']);
  assert(sequence.acknowledged(3));
  assert.deepEqual([sequence.unacknowledged, sequence.append('{"a":4}').seq], [[], 4]);
});

test("a request with a response is sent again as a notification, and nothing else changes", () => {
  const sequence = new SequenceState();
  const texts = ['{"jsonrpc":"2.0","id":"a-1","method":"m","params":{"id":"a-1"}}', '{"jsonrpc":"2.0","id":"a-1","result":1}',
    '{"jsonrpc":"2.0","method":"m","params":{"id":"a-1"}}', '{"jsonrpc":"2.0","id":"a-11","method":"m"}', '{"jsonrpc":"2.0","id":"\\"é","method":"m"}'];
  const sent = texts.map((text) => sequence.append(text).text);
  for (const id of ["a", "a-", "A-1", null, undefined, 1, '"']) sequence.responded(id);
  assert.deepEqual(sequence.unacknowledged, sent);
  for (const id of ["a-1", "a-1", '"é']) sequence.responded(id);
  assert.deepEqual(sequence.unacknowledged, [
    '{"seq":1,"jsonrpc":"2.0","method":"m","params":{"id":"a-1"}}', sent[1], sent[2], sent[3], '{"seq":5,"jsonrpc":"2.0","method":"m"}',
  ]);
});

test("an acknowledgement is due after 32 messages or 64 KiB, and needed before", () => {
  const sequence = new SequenceState();
  assert.equal(sequence.needsAcknowledgement, false);
  for (let seq = 1; seq < 32; seq += 1) sequence.receive(seq, 10);
  assert.deepEqual([sequence.needsAcknowledgement, sequence.isAcknowledgementDue], [true, false]);
  sequence.receive(32, 10);
  assert.equal(sequence.isAcknowledgementDue, true);
  assert.deepEqual([sequence.report(), sequence.needsAcknowledgement, sequence.isAcknowledgementDue], [32, false, false]);
  sequence.receive(33, (64 << 10) / 3 - 1);
  assert.equal(sequence.isAcknowledgementDue, false);
  sequence.receive(34, 1);
  assert.equal(sequence.isAcknowledgementDue, true, "a unit can be three bytes");
  sequence.report();
  assert.equal(sequence.isAcknowledgementDue, false);
});

test("there is room for 1,024 messages and 4 MiB of messages that can wait, and for one of any size", () => {
  const sequence = new SequenceState();
  for (let count = 0; count < 1023; count += 1) sequence.append('{"a":1}');
  assert.equal(sequence.hasRoom, true);
  sequence.append('{"a":1}');
  assert.equal(sequence.hasRoom, false);
  sequence.acknowledged(1024);
  assert.equal(sequence.hasRoom, true);
  sequence.append(`{"a":"${"x".repeat(5 << 20)}"}`);
  assert.equal(sequence.hasRoom, false);
  sequence.acknowledged(1025);
  assert.equal(sequence.hasRoom, true);
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

/** One side of a connection that is lost repeatedly. */
class Side {
  sequence = new SequenceState();
  /** @type {(number | {ack: number})[]} messages on the way to the peer */
  wire = [];
  /** @type {number[]} the received values, in order */
  received = [];
  sent = 0;

  send(isConnected = true) {
    this.sent += 1;
    const { text } = this.sequence.append(JSON.stringify({ value: this.sent }));
    if (isConnected) this.wire.push(JSON.parse(text));
  }

  acknowledge() {
    if (this.sequence.needsAcknowledgement) this.wire.push({ ack: this.sequence.report() });
  }

  /** @param {any} message */
  receive(message) {
    if (message.ack !== undefined) return assert(this.sequence.acknowledged(message.ack));
    const found = this.sequence.receive(message.seq, 1);
    assert.equal(found, "next", `${JSON.stringify(message)} after ${this.sequence.received}`);
    this.received.push(message.value);
  }

  /** @param {number} received the number of the last message that the peer has received */
  resume(received) {
    assert(this.sequence.resumed(received));
    this.wire.push(...this.sequence.unacknowledged.map((text) => JSON.parse(text)));
  }
}

const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));

test(`over lost connections all messages arrive once and in order (SEED=${SEED})`, (t) => {
  t.diagnostic(`SEED=${SEED}`);
  const random = chance(SEED);
  const sides = [new Side(), new Side()];
  let isConnected = true;
  const connect = () => {
    const received = sides.map(({ sequence }) => sequence.received);
    sides[0].resume(received[1]);
    sides[1].resume(received[0]);
    isConnected = true;
  };
  for (let step = 0; step < 20000; step += 1) {
    const which = random() < 0.5 ? 0 : 1;
    const [side, other] = [sides[which], sides[1 - which]];
    const what = random();
    if (what < 0.45) side.send(isConnected);
    else if (!isConnected) connect();
    else if (what < 0.9 && side.wire.length > 0) other.receive(side.wire.shift());
    else if (what < 0.98) side.acknowledge();
    else {
      // Messages on the way are lost from some point on.
      for (const each of sides) each.wire = [];
      isConnected = false;
    }
  }
  for (const each of sides) each.wire = [];
  connect();
  for (const which of [0, 1]) while (sides[which].wire.length > 0) sides[1 - which].receive(sides[which].wire.shift());
  for (const which of [0, 1]) {
    const expected = Array.from({ length: sides[1 - which].sent }, (_, index) => index + 1);
    assert.deepEqual(sides[which].received, expected);
    sides[which].acknowledge();
  }
  for (const which of [0, 1]) while (sides[which].wire.length > 0) sides[1 - which].receive(sides[which].wire.shift());
  assert.deepEqual(sides.map(({ sequence }) => sequence.unacknowledged.length), [0, 0]);
});

test(`over restarts of the peer all messages arrive, and acknowledged ones once (SEED=${SEED})`, () => {
  const random = chance(SEED + 1);
  const client = new Side();
  let server = new SequenceState();
  /** @type {number[]} how often the server has received each message of the client */
  const events = [0];
  let isSure = 0;
  for (let step = 0; step < 20000; step += 1) {
    const what = random();
    const next = /** @type {any} */ (client.wire[0]);
    if (what < 0.4) {
      client.send();
      events.push(0);
    } else if (what < 0.85 && next !== undefined) {
      client.wire.shift();
      assert.equal(server.receive(next.seq, 1), "next");
      events[next.value] += 1;
      if (next.value <= isSure) assert.equal(events[next.value], 1, `${next.value} was acknowledged before`);
    } else if (what < 0.95 && server.needsAcknowledgement) {
      isSure = server.report();
      assert(client.sequence.acknowledged(isSure));
    } else if (what > 0.98) {
      // The server still has some of the messages that it has not acknowledged.
      const received = isSure + Math.floor(random() * (server.received - isSure + 1));
      server = new SequenceState(0, received);
      client.wire = [];
      assert.equal(client.sequence.sent, client.sent);
      client.resume(received);
      // The number in a resume acknowledges the messages up to it.
      isSure = received;
    }
  }
  for (const { value } of /** @type {any[]} */ (client.wire)) events[value] += 1;
  assert.deepEqual(events.slice(1).filter((count) => count === 0), []);
  assert.equal(events.length, client.sent + 1);
});
