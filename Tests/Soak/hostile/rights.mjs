// Attacks on a server that knows its users, by clients that try to get more rights than they were given.
import { makeToken } from "../credentials.mjs";
import { Attacker } from "./attacker.mjs";
import { FORBIDDEN, NO_ROUTE, NOT_AUTHENTICATED, TASKS, enter, invite, refused, until } from "./steps.mjs";

const PUSH = { to: { all: true }, method: "event", params: { topic: "soak", data: "x" } };

/** Guests whose inviter leaves: neither they nor new guests get more than they had. */
async function guests(context) {
  context.allow(2401, 2403);
  const inviter = await Attacker.enter(context, { hosts: TASKS });
  const invitation = await invite(context, inviter, { routes: ["hostile://:task"], uses: 2 });
  const enter = async () => {
    const guest = new Attacker(context, undefined, null);
    await guest.opened;
    return [guest, await guest.request("session.open", { protocol: ["1.0"], join: invitation })];
  };
  const [guest, entered] = await enter();
  context.need(entered?.result, "a guest could not join");
  for (const method of ["session.list", "admin.refusals", "session.push", "table.update"]) {
    const answer = await guest.request(method, method === "session.push" ? PUSH : {});
    if (answer?.result) context.fault(`a guest called ${method}`);
  }
  await inviter.leave();
  await context.pause(50);
  const [, late] = await enter();
  if (late?.result) context.fault("the invitation of a client that has left is still valid");
}

/** A guest has the groups of its inviter only as long as the inviter has them: calls, links that wait and new guests lose them. */
async function renewals(context) {
  context.allow(FORBIDDEN);
  const inviter = await enter(context, { user: "intruder", groups: ["staff"], hosts: TASKS });
  const failed = [];
  inviter.notified = ({ params }) => params?.topic === "route.failed" && failed.push(params.data);
  await inviter.request("events.subscribe", { topics: ["route.failed"] });
  const ran = [];
  inviter.answers = ({ params }) => (ran.push(params.uri), { result: null });
  const routes = ["hostile://:task", "waiting://:task"];
  const join = await invite(context, inviter, { routes, groups: ["staff"], uses: 2 });
  const guest = await enter(context, { user: null, join });
  const call = { uri: "hostile://task" };
  context.need((await guest.request("router.invoke", call))?.result !== undefined, "a guest has no rights of its inviter's group");
  // It waits for a host.
  const link = await guest.request("router.deliver", { uri: "waiting://task" });
  context.need(link?.result !== undefined, "a guest could not deliver a link");
  const renewed = await inviter.request("session.renew", { token: makeToken("intruder") });
  context.need(renewed?.result, "the inviter could not renew its token");

  const before = ran.length;
  refused(context, "a guest's call with a lost group", await guest.request("router.invoke", call), FORBIDDEN);
  const late = await enter(context, { user: null, join });
  refused(context, "a new guest's call with a lost group", await late.request("router.invoke", call), FORBIDDEN);
  refused(context, "an invitation with a lost group", await inviter.request("session.invite", { groups: ["staff"] }), FORBIDDEN);
  await inviter.request("host.register", { hosts: [{ patterns: ["waiting://:task"], kind: "task" }] });
  context.need(await until(context, () => failed.length > 0 || ran.length > before), "the link still waits");
  if (ran.length > before) context.fault(`a lost group still gave access to ${ran.slice(before)}`);
}

/** A guest, and an invitation, end with the token of the inviter. */
async function expiries(context) {
  context.allow(NOT_AUTHENTICATED, 4203);
  const inviter = await enter(context, { user: "intruder", seconds: 3, hosts: TASKS });
  const join = await invite(context, inviter, { routes: ["hostile://:task"], uses: 2 });
  const guest = await enter(context, { user: null, join });
  const end = context.pause(3_000 + context.timeout).then(() => "late");
  for (const [name, client] of [["an inviter", inviter], ["a guest", guest]]) {
    const code = await Promise.race([client.closed, end, context.over]);
    if (code !== 4203 && !context.isOver) context.fault(`${name} whose token has expired was closed with ${code}`);
  }
  const late = await Attacker.enter(context, { user: null, join: { invitation: join } });
  if (late.opening) context.fault("the invitation of a client whose token has expired is still valid");
}

/** A URL that the policy denies, in spellings that browsers and hosts read as the same. */
async function spellings(context) {
  context.allow(2403, 2404, -32602);
  const shell = await Attacker.enter(context, { hosts: [...TASKS, { scheme: "native", kind: "page" }] });
  const urls = [
    "https://bank.example/a", "HTTPS://BANK.EXAMPLE/a", "https:bank.example/a", "https:/bank.example/a", "https:///bank.example/a",
    "https://bank.example:443/a", "https://bank.example./a", "https://u:p@bank.example/a", "https://bank.example/./a",
    "https://bank.example/x/../a", "https://bank.example/%61", "https://b%61nk.example/a", "https:\\\\bank.example\\a",
    "hostile://secret/1", "hostile:secret/1", "HOSTILE://secret/1", "hostile://u@secret/1", "hostile://secret/%31",
    "native://secret", "native:secret", "native://u@secret", "native://secret?x=1", "native://secret#x", " native://secret",
  ];
  for (const uri of urls) {
    for (const method of ["router.invoke", "router.open", "router.deliver"]) {
      if (context.isOver || !shell.isOpen) return;
      const answer = await Promise.race([shell.request(method, { uri }), context.pause(200)]);
      if (answer?.result !== undefined && answer.result !== null) context.fault(`${method} of ${uri} passed: ${JSON.stringify(answer.result)}`);
    }
  }
}

/** Pages of another user that the policy denies: a client of their session learns neither URI nor params, and ends none of them. */
async function hiddenPages(context) {
  context.allow(FORBIDDEN, NO_ROUTE, 2405, -32602);
  const closed = [];
  const shell = await enter(context, {
    user: "good", hosts: [{ scheme: "native", kind: "page" }, { patterns: ["hostile://secret/:id"], kind: "page" }],
  });
  const shown = [];
  shell.answers = ({ method, params }) => {
    (method === "page.open" ? shown : closed).push(params.page.id ?? params.page);
    return { result: null };
  };
  const uris = ["native://home", "hostile://secret/vault", "hostile://secret/vault?of=gold"];
  for (const [index, uri] of uris.entries()) {
    void shell.request("router.open", { uri, params: index > 0 ? { text: "vault" } : {} });
    context.need(await until(context, () => shown.length > index), "a page does not open");
  }
  const [, hidden, top] = shown;
  const joining = { user: "intruder", join: shell.invitation };
  const learned = [];
  const [intruder, listener] = [await enter(context, joining), await enter(context, joining)];
  for (const client of [intruder, listener]) client.heard = (text) => text.includes("vault") && learned.push(text);
  await intruder.request("events.subscribe", { topics: ["*"] });
  await listener.request("events.subscribe", { topics: ["*"] });
  const stack = await intruder.request("navigation.stack");
  context.need(stack?.result?.pages.length === uris.length, "the stack does not have the pages");

  const result = { data: "invented" };
  const denied = [
    ["navigation.finish", { page: top, result }], ["navigation.finish", { page: hidden, result }], ["navigation.finish", { page: shown[0], result }],
    ["navigation.back"], ["navigation.back", { count: 2, result }], ["navigation.back", { to: hidden }], ["navigation.back", { before: top, result }],
    ["navigation.back", { to: "home" }], ["navigation.back", { root: true }], ["navigation.adopt", { uri: "hostile://secret/1" }],
    ["router.invoke", { uri: "navigation:back?count=1" }], ["router.open", { uri: "navigation:back", params: { root: true } }],
    ["page.call", { page: top, method: "read" }], ["navigation.selectTab", { index: 0 }], ["router.deliver", { uri: "hostile://secret/1", style: "popTo" }],
    ["router.open", { uri: "hostile://secret/1", style: "popTo", params: { text: "invented" } }],
    ...["replace", "root", "popTo", "tab"].map((style) => ["router.open", { uri: "native://home", style }]),
    ...[1, "root"].map((pop) => ["router.open", { uri: "native://discover", exts: { pop } }]),
  ];
  for (const [method, params] of denied) {
    // An opening that passes gets no response before its page has closed.
    const passed = context.pause(1_000).then(() => ({ result: "none" }));
    const answer = await Promise.race([intruder.request(method, params), passed]);
    refused(context, `${method} ${JSON.stringify(params)}`, answer, FORBIDDEN, NO_ROUTE);
  }
  // A client that says that it runs in a page of another user gets no rights by that.
  const claim = await Attacker.enter(context, { ...joining, join: shell, page: top });
  claim.heard = (text) => text.includes("vault") && learned.push(text);
  if (claim.opening) {
    await claim.request("navigation.stack");
    refused(context, "a finish of a page that it says to run in", await claim.request("navigation.finish", { result }), FORBIDDEN);
  }
  for (const uri of [hidden, top]) {
    const found = await intruder.request("navigation.contains", { uri });
    if (context.need(found, "no response").result !== null) context.fault("a hidden page is found");
  }
  await intruder.request("page.sync", { pages: shown, failed: shown });
  // It also sees the events of pages that open and close.
  void shell.request("router.open", { uri: uris[1], params: { text: "vault" } });
  context.need(await until(context, () => shown.length > uris.length), "a page does not open");
  if (closed.length > 0) context.fault(`pages were closed: ${closed}`);
  await shell.request("navigation.back");
  await Promise.all([intruder.request("$/ping"), listener.request("$/ping")]);
  for (const text of learned) context.fault(`a client learned of a hidden page: ${text.slice(0, 500)}`);
}

/** The attacks by name. */
export const RIGHTS = { guests, renewals, expiries, spellings, hiddenPages };
