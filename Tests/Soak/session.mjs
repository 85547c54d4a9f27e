import { isDeepStrictEqual } from "node:util";

/** The first pages of the table's tabs. */
/** Members that the results of all pages need which the soak opens, as the demo's table declares them. */
const FITTING = {
  id: "a1", name: "Home", street: "Dock Road 1", city: "Kyoto", published: true, title: "Trip", audience: "friends", followed: true, count: 1,
  channel: "mail",
};

export const TABS = ["native://home", "native://discover", "flutter://me"];

/**
 * The test's view of one session: the hosts, and the pages that were opened, shown and closed, with their results. Messages of
 * different connections arrive in any order, so facts are compared when both are known.
 */
export class Session {
  /** The connections that are members, as far as the test knows. */
  members = new Set();
  /** By the tag that the params of an opening or a task contain: the call, and what the host did. */
  #requests = new Map();
  #pages = new Map();
  #hosting = new Map();
  #absences = new Map();
  #lastToken = 0;
  /** The number of adopted pages whose ids are not known yet. */
  adopts = 0;

  constructor(run, name, { session, joinToken }) {
    this.run = run;
    this.name = name;
    this.id = session;
    this.joinToken = joinToken;
  }

  fault(text) {
    this.run.fault(`${this.name}: ${text}`);
  }

  get pages() {
    return [...this.#pages.values()].filter((page) => page.isAgreed && page.reason === undefined);
  }

  // Hosts.

  hosts(connection, schemes) {
    for (const scheme of schemes) {
      this.#hosting.set(scheme, connection);
      // The last messages of a host that is leaving can make it the last registered one again, until its end is seen.
      this.#absences.set(scheme, performance.now() + this.run.lateness);
    }
  }

  unhosts(connection, schemes = [...this.#hosting.keys()]) {
    for (const scheme of schemes) {
      if (this.#hosting.get(scheme) !== connection) continue;
      this.#hosting.delete(scheme);
      this.#absences.set(scheme, Infinity);
    }
  }

  /** Whether a call can find its host absent. */
  mayLackHost(call, uri) {
    const scheme = uri.split(":")[0];
    return (this.#absences.get(scheme) ?? Infinity) >= call.begun;
  }

  // Requests to hosts.

  /** Stores a call under its tag before it is sent. */
  begin(tag, caller) {
    caller.lastBegun = (caller.lastBegun ?? 0) + 1;
    this.#requests.set(tag, { tag, caller, order: caller.lastBegun, call: undefined, host: undefined });
  }

  /** Called when a host gets a request for a page or a task; without a tag, for the first page of a tab. */
  hostRequested(host, tag, what) {
    const request = tag === undefined ? { tag: host.name, caller: host, order: 0 } : this.#requests.get(tag);
    if (!request) return host.fault(`${what} for a call that nobody made: ${tag}`);
    // A deep link whose host has left goes to the next one.
    const isLinkAgain = request.call === undefined && request.host?.isLeaving;
    if (request.host && !isLinkAgain) return host.fault(`${what} came twice for ${tag}`);
    request.host = host;
    request.at = performance.now();
    if (request.order === Infinity || tag === undefined) return request;
    const key = `${what} ${request.caller.name}`;
    host.lastOrder ??= new Map();
    if ((host.lastOrder.get(key) ?? 0) > request.order) host.fault(`${what} of ${request.caller.name} came out of order`);
    host.lastOrder.set(key, request.order);
    return request;
  }

  request(tag) {
    return this.#requests.get(tag);
  }

  // Pages.

  /** Called when a host gets a page while no other host has it. If the server is slow, it can learn late of the previous one. */
  pageRequested(host, page, request) {
    if (this.#pages.has(page.id)) return host.fault(`page.open of ${page.id}, which was opened before`);
    for (const other of this.#pages.values()) {
      // The messages of two hosts can be read in the opposite order.
      const isLater = Number(page.id.slice(1)) > Number(other.id.slice(1));
      if (isLater && other.isPending && this.#holdsUpOthers(other)) {
        host.fault(`page.open of ${page.id} while ${other.id} is asked for`);
      }
    }
    const known = { ...page, host, request, isPending: true, isAgreed: false, openers: new Set(), reason: undefined };
    this.#pages.set(page.id, known);
    return known;
  }

  #holdsUpOthers({ host, request }) {
    const call = request?.call;
    return call && !call.isSettled && !call.isCancelled && call.params.deadlineMs === undefined && !request.caller.isLeaving
      && !host.isLeaving && performance.now() - request.at < 9_000 && this.run.slowness === 1;
  }

  /** An unknown page can be one whose client has not read the response to its adopt yet. */
  #adoptedUnread(id) {
    if (this.adopts <= 0) return;
    this.adopts -= 1;
    const page = { id, isAgreed: true, openers: new Set(), reason: undefined };
    this.#pages.set(id, page);
    return page;
  }

  adopted(host, page) {
    const known = this.#pages.get(page.id);
    if (known?.host) return host.fault(`adopt gave ${page.id}, which was opened before`);
    if (!known) this.adopts -= 1;
    this.#pages.set(page.id, { openers: new Set(), reason: undefined, ...known, ...page, host, isAgreed: true });
  }

  answered(page, agrees) {
    page.isPending = false;
    page.isAgreed = agrees;
  }

  /** Called when a call learns that its page is shown. */
  shown(connection, call, id) {
    const page = this.#pages.get(id) ?? this.#adoptedUnread(id);
    if (!page?.isAgreed) return connection.fault(`${id} is shown, to which no host has agreed`);
    const isOther = call.params.style === "popTo" || call.params.style === "tab";
    if (!isOther && (page.request?.call !== call || page.uri !== call.params.uri)) connection.fault(`${id} is not what was opened`);
    page.openers.add(call);
  }

  /** Called when the host learns that its page has left the stack. */
  closedAtHost(host, id, reason) {
    const page = this.#pages.get(id);
    if (page?.host !== host) return host.fault(`page.close of ${id}, which is another's`);
    if (!page.isAgreed) return host.fault(`page.close of ${id}, which it never agreed to`);
    if (page.isClosedAtHost) return host.fault(`page.close of ${id} twice`);
    page.isClosedAtHost = true;
    this.#ended(page, reason);
  }

  /** Called when a call has its outcome. */
  outcome(connection, call, outcome) {
    const page = this.#pages.get(call.page);
    if (!page) return connection.fault(`an outcome without a page: ${JSON.stringify(outcome)}`);
    const isAlone = call.isCancelled && outcome.outcome === "cancelled";
    if (!isAlone) this.#ended(page, outcome.outcome);
    if (outcome.outcome === "cancelled" && !call.isCancelled) connection.fault(`${page.id} was not cancelled by its opener`);
    if (outcome.outcome === "failed" && page.host?.isLeaving === false) connection.fault(`${page.id} failed, its host is there`);
    const code = outcome.outcome === "failed" ? 2504 : outcome.outcome === "finished" ? (page.result?.code ?? outcome.code) : 0;
    if (outcome.code !== code) connection.fault(`${page.id}: the code is ${outcome.code} instead of ${code}`);
    if (outcome.outcome === "finished") this.#result(page, outcome);
    else if (outcome.data !== null) connection.fault(`${page.id} is ${outcome.outcome} with data`);
  }

  /** Called with a result, which belongs to one page only. */
  offer() {
    this.#lastToken += 1;
    const token = this.#lastToken;
    return { data: { ...FITTING, token }, code: token % 3, message: `result ${token}` };
  }

  /** Called with the response to a call: these pages are closed, the lowest of them for this reason and with the result. */
  closedBy(connection, { page: top, closed }, reason, result, others = "dismissed") {
    if (new Set(closed).size !== closed.length) connection.fault(`closed twice: ${closed}`);
    if (closed.includes(top)) connection.fault(`${top} is closed and on top`);
    closed.forEach((id, index) => {
      const page = this.#pages.get(id) ?? this.#adoptedUnread(id);
      if (!page?.isAgreed) return connection.fault(`${id} is closed, which was never shown`);
      if (page.isClosedByCall) return connection.fault(`${id} was closed by two calls`);
      page.isClosedByCall = true;
      const isLowest = index === closed.length - 1;
      if (reason) this.#ended(page, isLowest ? reason : others);
      if (isLowest && result) this.#result(page, result);
    });
  }

  /** Called with the pages that an edit of the stack has opened for these URIs, lowest first. */
  openedBy(connection, opened, uris) {
    if (opened.length !== uris.length) connection.fault(`opened [${opened}] instead of [${uris}]`);
    opened.forEach((id, index) => {
      const page = this.#pages.get(id);
      if (!page?.isAgreed || page.uri !== uris[index]) connection.fault(`${id} was opened for ${uris[index]}, and is not shown as that`);
    });
  }

  /** Called when a member receives an event of a page. */
  eventReceived(connection, topic, { session, page: id, uri, outcome }) {
    if (session !== this.id) return connection.fault(`${topic} of another session`);
    const page = this.#pages.get(id);
    if (!page) return;
    if (uri !== page.uri && page.uri) connection.fault(`${topic} of ${id} with the URI ${uri} instead of ${page.uri}`);
    connection.toldOf ??= new Set();
    const key = `${topic} ${id}`;
    if (connection.toldOf.has(key)) connection.fault(`${key} twice`);
    connection.toldOf.add(key);
    if (topic === "page.closed") this.#ended(page, outcome.outcome ?? outcome);
  }

  #ended(page, reason) {
    if ((page.reason ?? reason) !== reason) this.fault(`${page.id} is ${reason}, and was ${page.reason}`);
    page.reason = reason;
  }

  #result(page, { data, code, message }) {
    const result = { data, code, message };
    page.result ??= result;
    if (!isDeepStrictEqual(page.result, result)) this.fault(`${page.id} has two results`);
  }

  /** Compares `navigation.stack` with what the hosts show; returns the differences. */
  difference(stack) {
    const onStack = [];
    const walk = (pages) => {
      for (const page of pages) {
        onStack.push(page.id);
        walk(page.pages ?? []);
      }
    };
    for (const { pages } of [stack, ...(stack.tabs ?? [])]) walk(pages ?? []);
    // If the response to its adopt was never read, the host is not known.
    const shown = this.pages.filter((page) => page.host?.isLeaving === false).map((page) => page.id);
    const differing = [...onStack.filter((id) => !shown.includes(id)), ...shown.filter((id) => !onStack.includes(id))];
    return differing.length === 0 ? undefined : `stack [${onStack}], at hosts [${shown}]`;
  }

  /** Pages that have ended and were not closed at their hosts. */
  unclosed() {
    const isOpen = (page) => page.reason !== undefined && page.host?.isLeaving === false && !page.isClosedAtHost;
    return [...this.#pages.values()].filter(isOpen).map((page) => page.id).join(", ") || undefined;
  }

  /** Removes what has ended. */
  forget() {
    for (const [id, page] of this.#pages) {
      const hasEnded = page.isClosedAtHost || page.reason !== undefined || !page.isAgreed || page.host?.isLeaving;
      if (hasEnded && !page.isPending) this.#pages.delete(id);
    }
    // A deep link can be followed at any time, and again if its host leaves before the server has its response.
    for (const [tag, { order }] of this.#requests) if (order !== Infinity) this.#requests.delete(tag);
  }
}
