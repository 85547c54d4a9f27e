import { TABS } from "./session.mjs";

const PAGES = [
  "native://home", "native://address/list", "native://address/1", "native://address/2", "native://walk/a",
  "flutter://counter", "flutter://profile/1", "flutter://profile/2", "web2://page/1", "web3://page/2",
];
const STYLES = [[6, "push"], [2, "present"], [2, "replace"], [0.4, "root"], [3, "popTo"], [1, "dismissThenPush"], [1, "tab"]];
const TASKS = ["action://toast", "action://toast", "action://share"];

/** Messages that no client would send: the text, and the code of the response, which has the id null. */
export const GARBAGE = [
  ["", -32700], ["{", -32700], ["nonsense", -32700], ['{"jsonrpc": "2.0", "method": "x", "id": 1,}', -32700],
  ["[1,", -32700], ["[".repeat(200), -32700], ['"\\ud800"', -32700], ["\u0000", -32700], ["[]", -32600], ["{}", -32600],
  ["1", -32600], ["null", -32600], ['{"jsonrpc": "1.0", "id": null, "method": "$/ping"}', -32600],
  ['{"jsonrpc": "2.0", "id": null, "method": 5}', -32600], ['{"jsonrpc": "2.0", "id": null, "method": "no.such"}', -32601],
  [JSON.stringify(Array.from({ length: 101 }, () => ({}))), 2413],
];

const late = (random) => (random.chance(0.12) ? { deadlineMs: 1 + random.below(200) } : {});

function cancelLater(member, call) {
  const { random, connection } = member;
  if (random.chance(0.15)) setTimeout(() => connection.cancel(call), random.below(40));
}

function open(member) {
  const { random, calls } = member;
  const style = random.weighted(STYLES);
  const exts = {};
  if (random.chance(0.3)) exts.animated = random.chance(0.5);
  if (style === "present" && random.chance(0.3)) exts.navigation = false;
  if (style === "push" && random.chance(0.15)) exts.pop = random.pick([0, 1, 2, "root", -1]);
  const uri = random.pick(style === "tab" ? TABS : PAGES);
  const call = calls.open({ uri, style, exts, ...late(random) }, { isSilent: random.chance(0.03) });
  if (call) cancelLater(member, call);
}

function invoke(member) {
  const { random, calls } = member;
  const call = calls.invoke(random.pick(["router.invoke", "router.invoke", "router.open"]), {
    uri: random.pick(TASKS), ...late(random),
  });
  cancelLater(member, call);
}

function callPage(member) {
  const { random, session, calls } = member;
  const page = random.pick(session.pages);
  if (page) cancelLater(member, calls.callPage(page.id, late(random)));
}

/** A deep link. The page that it opens belongs to no call. */
function deliver({ random, session, connection, calls }) {
  const uri = random.pick(PAGES);
  const call = connection.request("router.deliver", { uri, params: { tag: calls.silentTag() } }, { isAtOnce: true });
  call.whenAnswered((answer) => answer?.error && answer.error.code !== 2429 && session.fault(`deliver: ${answer.error.message}`));
}

/** Events of a topic can arrive from the subscription until the unsubscription is confirmed. */
function subscribe({ random, connection }) {
  const topic = random.pick(["page.*", "page.closed", "task.*", "route.*", "session.*"]);
  const isWanted = !connection.wanted.has(topic) || random.chance(0.5);
  const method = isWanted ? "events.subscribe" : "events.unsubscribe";
  if (isWanted) connection.wanted.add(topic);
  else connection.wanted.delete(topic);
  connection.topics.set(topic, (connection.topics.get(topic) ?? 0) + 1);
  const call = connection.request(method, { topics: [topic] }, { isAtOnce: true });
  call.whenAnswered((answer) => {
    if (answer?.error) connection.fault(`${method} ${topic}: ${answer.error.message}`);
    const underWay = connection.topics.get(topic) - 1;
    if (underWay > 0 || connection.wanted.has(topic)) connection.topics.set(topic, underWay);
    else connection.topics.delete(topic);
  });
}

function back(member) {
  const { random, session, calls } = member;
  const page = random.pick(session.pages)?.id ?? "p1";
  const params = random.weighted([
    [10, {}], [4, { count: 1 + random.below(3) }], [2, { to: page }], [2, { before: page }],
    [1, { to: random.pick(PAGES) }], [1, { root: true }], [0.3, { count: 1000 }],
  ]);
  calls.navigate("navigation.back", params, random.chance(0.4) ? session.offer() : undefined);
}

function finish(member) {
  const { random, session, calls } = member;
  const page = random.pick(session.pages);
  if (page) calls.navigate("navigation.finish", { page: page.id }, random.chance(0.7) ? session.offer() : undefined);
}

/** Removes pages from the stack, opens others in their place, or both. */
function edit(member) {
  const { random, session, calls } = member;
  const [page, other] = [random.pick(session.pages), random.pick(session.pages)];
  const uris = Array.from({ length: random.below(4) }, () => random.pick(PAGES));
  const ranges = [];
  if (page && other) {
    ranges.push([3, { page: page.id }], [1, { from: page.id, through: other.id }], [1, { from: page.id }], [1, { above: page.id }]);
  }
  if (uris.length > 0) ranges.push([2, undefined], [0.4, { all: true }]);
  if (ranges.length === 0) return;
  cancelLater(member, calls.edit(random.weighted(ranges), uris, late(random)));
}

/** Sends a request that the server responds to at once. */
function query(member) {
  const { random, connection, session, run } = member;
  const [method, params, isRight] = random.weighted([
    [4, ["$/ping", undefined, (result) => result === null]],
    [2, ["router.canOpen", { uri: random.pick(PAGES) }, (result) => typeof result.canOpen === "boolean"]],
    [1, ["navigation.contains", { uri: random.pick(PAGES) }, (result) => result === null || result.id]],
    [1, ["navigation.stack", undefined, (result) => Array.isArray(result.pages)]],
    [0.2, ["router.routes", undefined, (result) => result.length > 10]],
    [0.1, ["rpc.discover", undefined, (result) => result.openrpc]],
    [run.isDemo ? 6 : 0, ["router.invoke", { uri: "action://time" }, (result) => result.serverTime > 0]],
    [run.isDemo ? 0 : 6, [
      "router.invoke", { uri: "action://echo?a=1", params: { b: session.name } },
      (result) => result.a === "1" && result.b === session.name,
    ]],
  ]);
  const call = connection.request(method, params, { id: connection.nextID(random), isAtOnce: true });
  call.whenAnswered((answer) => {
    if (answer && !(answer.result !== undefined && isRight(answer.result))) connection.fault(`${method} gave ${JSON.stringify(answer)}`);
  });
}

function batch(member) {
  const { random, connection, run } = member;
  const entries = Array.from({ length: 1 + random.below(8) }, (_, index) => ({
    id: random.chance(0.2) ? undefined : connection.nextID(random),
    method: "router.invoke",
    params: { uri: run.isDemo ? "action://time" : "action://echo", params: { index } },
  }));
  for (const call of connection.batch(entries)) {
    call.whenAnswered((answer) => {
      const isRight = run.isDemo ? answer?.result?.serverTime > 0 : answer?.result?.index === call.params.params.index;
      if (answer && !isRight) connection.fault(`echo gave ${JSON.stringify(answer)}`);
    });
  }
}

function cancel({ random, connection }) {
  const call = random.pick([...connection.calls.values()].filter((call) => call.params?.uri && !call.isAtOnce));
  if (call) connection.cancel(call);
  else connection.send({ method: "$/cancelRequest", params: { id: "unknown" } });
}

function duplicate({ random, connection }) {
  const call = random.pick([...connection.calls.values()].filter((call) => call.page !== undefined));
  if (call) connection.duplicate(call);
}

function garbage({ random, connection }) {
  if (random.chance(0.3)) {
    // Responses and progress for unknown calls are dropped.
    connection.send({ id: 1_000_000 + random.below(9), result: {} });
    return connection.send({ method: "$/progress", params: { id: "nothing", value: 1 } });
  }
  connection.provoke(...random.pick(GARBAGE));
}

/** Unregisters one of its own hosts and registers it again, in one batch or one after another. */
function rehost({ connection, session, hosts, schemes }) {
  if (hosts.length === 0) return;
  session.unhosts(connection, schemes);
  const check = (call) => call.whenAnswered((answer) => answer?.error && connection.fault(`${call.method}: ${answer.error.message}`));
  check(connection.request("host.unregister", { hosts }, { isAtOnce: true }));
  const call = connection.request("host.register", { hosts }, { isAtOnce: true });
  check(call);
  call.whenAnswered((answer) => answer && session.hosts(connection, schemes));
}

/** The actions of a member, with weights. */
export const ACTIONS = [
  [30, open], [18, invoke], [8, callPage], [3, deliver], [2, subscribe], [26, back], [8, edit], [10, finish], [30, query], [8, batch], [6, cancel], [2, duplicate], [4, garbage],
  [2, (member) => member.calls.adopt(member.random.pick(PAGES), member.random.pick(["push", "present"]))],
  [2, (member) => member.calls.selectTab(member.random.below(TABS.length))],
  [0.5, rehost],
];
