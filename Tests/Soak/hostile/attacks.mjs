import { Attacker } from "./attacker.mjs";

const MEBIBYTE = 1_048_576;
/** How long the server waits for the response to `page.open`. */
const PAGE_OPEN = 10_000;
const PAGES = [{ scheme: "native", kind: "page" }];
const TASKS = [{ patterns: ["hostile://:task"], kind: "task" }];

const PUSH = { to: { all: true }, method: "event", params: { topic: "soak", data: "x".repeat(1_000) } };

const range = (count, make) => Array.from({ length: count }, (_, index) => make(index));

/** The maximum number of hosts of a client, with patterns that have the maximum number of forms. */
const ambiguous = (name) =>
  range(64, (host) => ({
    kind: "page",
    patterns: range(2, (index) => `${name}${host}://p${index}(/a/:a)(/b/:b)(/c/:c)(/d/:d)(/e/:e)`),
  }));

/** A session whose one member puts many pages on its stack, until the server rejects more. */
async function stacked(context, depth, params) {
  const shell = await Attacker.enter(context, { hosts: PAGES });
  for (let shown = 0; shown < depth && shell.isOpen && !context.isOver; shown += 16) {
    await shell.requestAll(range(Math.min(16, depth - shown), () => ["navigation.adopt", { uri: "native://home", params }]));
  }
  return shell;
}

/** One connection with the maximum number of patterns, which registers and unregisters one more host, in 9 KB four times a second. */
async function patterns(context) {
  context.allow(-32602);
  const attacker = new Attacker(context, []);
  await attacker.opened;
  await attacker.request("host.register", { hosts: ambiguous("h").slice(1) });
  const hosts = [{ scheme: "hostile", kind: "page" }];
  const calls = range(50, () => [["host.register", { hosts }], ["host.unregister", { hosts }]]).flat();
  for (let turn = 0; turn < 8 && attacker.isOpen && !context.isOver; turn += 1) {
    void attacker.requestAll(calls, { isBatch: true });
    await context.pause(250);
  }
  await attacker.request("$/ping");
}

/** A session of 32 members that register hosts in batches and leave together. */
async function crowd(context) {
  context.allow(-32602);
  const first = await Attacker.enter(context);
  const others = await Promise.all(range(31, () => Attacker.enter(context, { join: first })));
  const members = [first, ...others];
  await Promise.all(members.map((member, index) => {
    const hosts = ambiguous(`crowd${index}.`);
    const turns = range(5, () => [["host.register", { hosts }], ["host.unregister", { hosts }]]).flat();
    return member.requestAll([...turns, ["host.register", { hosts }]], { isBatch: true });
  }));
  await Promise.all(members.map((member) => member.leave()));
}

/** 64 members with 4,096 plain patterns each, which are 262,144 patterns. */
async function manyPatterns(context) {
  const first = await Attacker.enter(context);
  const others = await Promise.all(range(63, () => Attacker.enter(context, { join: first })));
  const members = [first, ...others];
  await Promise.all(members.map((member, index) => member.request("host.register", {
    hosts: range(64, (host) => ({
      kind: "page", scheme: "native", patterns: range(64, (pattern) => `/m${index}/h${host}/p${pattern}/:id`),
    })),
  })));
  await Promise.all(members.map((member) => member.leave()));
}

/** Batches of the most expensive calls: the whole stack, an explanation, all routes, all methods. */
async function batches(context) {
  context.allow(2404);
  const shell = await stacked(context, 256, { text: "x".repeat(8_000) });
  const uri = `native://address/${"a/".repeat(250)}${"b".repeat(5_000)}`;
  const calls = [
    ["navigation.stack"], ["navigation.contains", { uri }], ["router.explain", { uri }], ["router.canOpen", { uri }],
    ["router.routes"], ["rpc.discover"], ["router.deliver", { uri: "missing://page", params: { uri } }],
  ];
  for (const call of calls) {
    if (context.isOver) return;
    await shell.requestAll(range(100, () => call), { isBatch: true });
  }
}

/** A mebibyte of each kind of JSON, as the params of a call and as an invalid call. */
async function large(context) {
  // Without --conformance there is no action://echo.
  context.allow(2404, -32602, -32601, -32600, -32700);
  const attacker = await Attacker.enter(context);
  const fill = (text) => text.repeat(Math.floor((MEBIBYTE - 200) / text.length)).replace(/,$/, "");
  const values = [
    `[${fill("[],")}]`, `[${fill("0,")}]`, `[${fill("1e400,")}]`, `{${fill('"a":0,')}}`, `"${fill("\\u0001")}"`, `"${fill("x")}"`,
    `{${range(60_000, (index) => `"k${index}":0`).join(",")}}`, `[${fill(`${"[".repeat(100)}${"]".repeat(100)},`)}]`,
  ];
  for (const value of values) {
    for (const [method, params] of [
      ["router.invoke", `{"uri":"action://echo","params":{"a":${value}}}`], ["router.explain", `{"uri":"native://home","params":{"a":${value}}}`],
      ["session.close", value], ["events.subscribe", `{"topics":${value}}`], ["host.register", `{"hosts":${value}}`],
    ]) {
      if (context.isOver || !attacker.isOpen) return;
      if (method === "session.close" && value[0] !== "[") continue;
      const id = attacker.nextID();
      const answer = attacker.expect(id);
      attacker.sendText(`{"jsonrpc":"2.0","id":${id},"method":"${method === "session.close" ? "no.such" : method}","params":${params}}`);
      await answer;
    }
    attacker.sendText(value);
  }
}

/** Small calls without end, tens of thousands in one write. */
async function flood(context) {
  const attackers = await Promise.all(range(4, () => Attacker.enter(context)));
  await Promise.all(attackers.map(async (attacker) => {
    for (let turn = 0; turn < 3 && attacker.isOpen && !context.isOver; turn += 1) {
      const answers = await attacker.requestAll(range(10_000, () => ["$/ping"]));
      const vague = answers.find((answer) => answer?.error && !(answer.error.data.retryAfterMs > 0));
      if (vague) context.fault(`a refusal does not tell when to try again: ${JSON.stringify(vague)}`);
    }
  }));
}

/** Pages whose parameters grow six times when they are encoded. */
async function escapes(context) {
  const shell = await stacked(context, 25, { text: "\u0001".repeat(100_000) });
  await shell.requestAll(range(100, () => ["navigation.stack"]), { isBatch: true });
  await shell.requestAll(range(100, () => ["navigation.stack"]));
}

/** Calls to a host that never responds, by several members one after another. */
async function waiting(context, callers, calls, make) {
  // The host has left, because it reads more slowly than the server sends requests.
  context.allow(2404);
  const host = await Attacker.enter(context, { hosts: TASKS });
  host.answers = () => undefined;
  const members = await Promise.all(range(callers, () => Attacker.enter(context, { join: host })));
  for (let call = 0; call < calls && !context.isOver; call += 1) {
    for (const member of members) {
      const { id, params } = make(call);
      void member.request("router.invoke", { uri: "hostile://silent", params }, id);
    }
    await context.pause(2);
  }
  await Promise.all(members.map((member) => member.request("$/ping")));
}

/** Ids of a mebibyte. */
function ids(context) {
  context.allow(-32600);
  return waiting(context, 4, 128, (call) => ({ id: `${call}${"i".repeat(MEBIBYTE - 200)}` }));
}

/** Parameters of 128 KiB. */
function parameters(context) {
  return waiting(context, 8, 128, () => ({ params: { text: "x".repeat(MEBIBYTE / 8) } }));
}

/** A hundred readers that request large results and read nothing. */
async function readers(context) {
  const attackers = await Promise.all(range(100, () => Attacker.enter(context)));
  for (const attacker of attackers) {
    attacker.socket.pause();
    for (let call = 0; call < 80; call += 1) void attacker.request("rpc.discover");
  }
  await context.pause(1000);
}

/** Guesses of a session's joinToken: the connection is closed after the tenth wrong one. */
async function guesses(context) {
  context.allow(2401);
  const shell = await Attacker.enter(context);
  const guesser = new Attacker(context);
  await guesser.opened;
  const join = { session: shell.invitation.session, token: "guess" };
  let wrong = 0;
  while (guesser.isOpen && wrong < 20) {
    const answer = await guesser.request("session.open", { protocol: ["1.0"], join });
    wrong += 1;
    if (answer === null) break;
  }
  const code = await Promise.race([guesser.closed, context.pause(context.timeout), context.over]);
  if (context.isOver) return;
  if (code === undefined) context.fault(`${wrong} wrong join tokens did not close the connection`);
  else if (code !== 4029) context.fault(`wrong join tokens closed the connection with ${code}`);
}

/** Calls a correct host and cancels each call: the limit is that of the caller. */
async function cancels(context) {
  // The host has left.
  context.allow(2404);
  const host = await Attacker.enter(context, { hosts: TASKS });
  const owed = [];
  host.answers = ({ id }) => void owed.push(id);
  const caller = await Attacker.enter(context, { join: host });
  for (let call = 0; call < 1_500 && caller.isOpen && !context.isOver; call += 1) {
    const id = caller.nextID();
    void caller.request("router.invoke", { uri: "hostile://slow" }, id);
    caller.cancel(id);
    if (call % 100 === 0) await context.pause(5);
  }
  if (caller.isOpen) await caller.request("$/ping");
  if (context.isOver) return;
  if (!host.isOpen) context.fault(`a host was closed with ${host.code} for calls that its caller has cancelled`);
  for (const id of owed) host.send({ id, result: null });
}

/** A host that never responds: calls behind its pages wait for one of them. */
async function silence(context) {
  const shell = await Attacker.enter(context, { hosts: PAGES });
  const silent = await Attacker.enter(context, { join: shell, hosts: [{ scheme: "flutter", kind: "page" }] });
  silent.answers = () => undefined;
  void shell.request("router.open", { uri: "native://home" });
  void shell.request("router.open", { uri: "native://discover" });
  for (let opened = 0; opened < 4; opened += 1) void shell.request("router.open", { uri: "flutter://counter" });
  const back = shell.request("navigation.back", {});
  const late = context.pause(PAGE_OPEN + context.timeout).then(() => "late");
  const first = await Promise.race([back, late, context.over]);
  if (first === "late") context.fault(`back waited longer than for one page of a silent host`);
}

/** A deep link whose task never returns does not block later links. */
async function links(context) {
  const shown = [];
  const shell = await Attacker.enter(context, { hosts: [...PAGES, ...TASKS] });
  shell.answers = ({ method, params }) => {
    if (method === "task.run") return undefined;
    if (method === "page.open") shown.push(params.page.uri);
    return { result: null };
  };
  await shell.request("router.deliver", { uri: "hostile://silent" });
  // A generous limit: this thread has other attacks to make.
  const timeout = 5 * context.timeout;
  for (const count of [17, 34]) {
    const answers = await Promise.all(range(17, () => shell.request("router.deliver", { uri: "native://walk/a" })));
    const refused = answers.filter((answer) => answer?.error).length;
    if (refused > 0) return context.fault(`${refused} links were refused behind a link's task`);
    for (const end = performance.now() + timeout; shown.length < count && performance.now() < end; ) await context.pause(20);
  }
  if (shown.length < 34 && !context.isOver) context.fault(`${34 - shown.length} of 34 links wait for a link's task`);
}

/** Connections without a token that only ping, send a byte from time to time, or begin a message. A client with a token still gets in. */
async function strangers(context) {
  const all = range(400, (index) => new Attacker(context, index % 2 === 0 ? [] : ["waybridge.v1"], null));
  await Promise.all(all.map(({ opened }) => opened));
  for (let turn = 0; turn < 20 && !context.isOver; turn += 1) {
    for (const [index, { socket, isOpen }] of all.entries()) {
      if (!isOpen) continue;
      if (index % 4 < 2) socket.ping();
      // A frame of 60,000 bytes, of which one more byte arrives each time.
      else socket._socket.write(turn === 0 ? Buffer.from([0x81, 0xfe, 0xea, 0x60, 0, 0, 0, 0, 0x5b]) : Buffer.from([0x20]));
    }
    if (turn % 5 === 0) {
      const client = await Attacker.enter(context, { user: "good" });
      if (!client.invitation && !context.isOver) context.fault("a client with a token could not open a session");
      await client.leave();
    }
    await context.pause(100);
  }
  for (const { code, isOpen } of all) if (!isOpen && code === undefined) context.fault("a connection has no close code");
}

/** Messages of a mebibyte whose last byte never arrives, in more bytes than the server may hold. */
async function unfinished(context) {
  const attackers = await Promise.all(range(300, () => Attacker.enter(context)));
  const size = MEBIBYTE - 1;
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, (size >> 16) & 255, (size >> 8) & 255, size & 255, 0, 0, 0, 0]);
  const part = Buffer.alloc(size - 1, 0x20);
  for (const { socket, isOpen } of attackers) {
    if (!isOpen || context.isOver) continue;
    socket._socket.write(head);
    socket._socket.write(part);
    await context.pause(2);
  }
  await context.pause(1000);
}

/** An administrator's operations on all sessions, again and again. */
async function everybody(context) {
  const operator = await Attacker.enter(context, { user: "operator" });
  const others = await Promise.all(range(200, () => Attacker.enter(context)));
  await Promise.all(others.map((other) => other.request("events.subscribe", { topics: ["soak"] })));
  for (let turn = 0; turn < 10 && operator.isOpen && !context.isOver; turn += 1) {
    await Promise.all([
      operator.request("session.push", PUSH),
      operator.request("session.list", {}),
    ]);
  }
  // All are cut at once.
  await Promise.all(others.map((other) => other.leave()));
  await operator.request("$/ping");
}

/** Attacks that take the server's time or memory. They run one at a time, so that it is known which one affected the watcher. */
export const HEAVY = { patterns, crowd, manyPatterns, batches, large, flood, escapes, ids, parameters, readers, guesses };
/** Attacks that make others wait; they run in addition to the heavy ones. */
export const WAITING = { cancels, silence, links };
/** Attacks on a server that knows its users; in turn with the heavy ones. */
export const AUTHENTICATED = { strangers, unfinished, everybody };
