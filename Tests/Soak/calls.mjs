import { isDeepStrictEqual } from "node:util";
import { TABS } from "./session.mjs";
import { expectedAnswer, pagePlan, taskPlan } from "./plans.mjs";

/** Makes the calls of one member, and checks each response against what the hosts did. */
export class Calls {
  #run;
  #session;
  #connection;
  #lastTag = 0;

  constructor(run, session, connection) {
    this.#run = run;
    this.#session = session;
    this.#connection = connection;
  }

  #tag() {
    this.#lastTag += 1;
    const tag = `${this.#connection.name}-${this.#lastTag}`;
    this.#session.begin(tag, this.#connection);
    return tag;
  }

  /** A tag for a call whose response does not depend on its host, and which has no order. */
  silentTag() {
    const tag = this.#tag();
    this.#session.request(tag).order = Infinity;
    return tag;
  }

  /** Opens a page; `isSilent`: as a notification, which has no response. */
  open(params, { id, isSilent = false } = {}) {
    const tag = this.#tag();
    const whole = { ...params, params: { ...params.params, tag } };
    if (isSilent) return void this.#connection.send({ method: "router.open", params: whole });
    const call = this.#connection.request("router.open", whole, { id });
    this.#run.counts.opens += 1;
    this.#session.request(tag).call = call;
    call.onShown = (page) => this.#session.shown(this.#connection, call, page);
    call.whenAnswered((answer) => this.#opened(call, answer, pagePlan(this.#run.seed, tag)));
    return call;
  }

  #opened(call, answer, plan) {
    if (!answer) {
      this.#run.counts.abandoned += 1;
      return;
    }
    this.#run.counts.outcomes += 1;
    if (answer.result) return this.#session.outcome(this.#connection, call, answer.result);
    if (call.page !== undefined) this.#connection.fault(`${call.page} was shown, then came ${JSON.stringify(answer.error)}`);
    if (answer.error.code !== 2502) return this.#failed(call, answer.error);
    if (!isDeepStrictEqual(answer.error.data.host, plan.error ?? { code: -32800, message: "cancelled" })) {
      this.#connection.fault(`the host's refusal is ${JSON.stringify(answer.error)}`);
    }
  }

  /** Runs a task that a client hosts, with `router.invoke` or `router.open`. */
  invoke(method, params) {
    // The demo's share opens its page when its Swift task runs.
    const tag = this.#run.isDemo && params.uri === "action://share" ? this.silentTag() : this.#tag();
    const call = this.#connection.request(method, { ...params, params: { tag } });
    this.#session.request(tag).call = call;
    call.whenAnswered((answer) => answer && this.#done(call, answer, tag));
    return call;
  }

  #done(call, answer, tag) {
    const isShare = call.params.uri === "action://share";
    // The task passes the error of its own call on: its host did not show the sheet.
    if (isShare && this.#run.isDemo && answer.error?.code === 2502) return;
    if (answer.error && answer.error.code < 0 && answer.error.code !== -32800) return this.#failed(call, answer.error);
    if (answer.error && [2404, 2408, 2429, 2504, -32800].includes(answer.error.code)) return this.#failed(call, answer.error);
    if (isShare) {
      if (this.#run.isDemo) return this.#shared(answer);
      if (answer.result?.tag !== tag && answer.result?.data?.tag !== tag) this.#connection.fault(`share gave ${JSON.stringify(answer)}`);
      return;
    }
    const plan = taskPlan(this.#run.seed, tag);
    const expected = expectedAnswer(plan, call.method);
    const { code, message, data } = answer.error ?? {};
    const actual = answer.error
      ? { error: expected.error?.host ? { code, host: data?.host } : { code, message, data } }
      : { result: answer.result };
    if (!isDeepStrictEqual(actual, expected)) {
      this.#connection.fault(`${tag}: expected ${JSON.stringify(expected)}, came ${JSON.stringify(answer)}`);
    }
    const steps = Array.from({ length: plan.progress ?? 0 }, (_, step) => step);
    if (!isDeepStrictEqual(call.progress, steps)) this.#connection.fault(`${tag}: progress was ${call.progress}`);
  }

  /** Goes back or finishes. A result, if there is one, belongs to one page only. */
  navigate(method, params, result) {
    const call = this.#connection.request(method, result ? { ...params, result } : params);
    call.whenAnswered((answer) => {
      if (!answer) return;
      const kind = answer.error?.data?.kind;
      const isRace = kind === "notOnStack" || (kind === "nothingBefore" && params.before) || (kind === "nothingCloses" && result) || kind === "nothingStays";
      if (answer.error && !isRace) return this.#failed(call, answer.error);
      if (answer.error) return;
      const { closed } = answer.result;
      if (method === "navigation.finish" && closed.at(-1) !== params.page) this.#connection.fault(`${params.page} finished, closed were ${closed}`);
      // Finishing without a result is a result of null.
      const given = method === "navigation.finish" ? { data: null, code: 0, message: "", ...result } : result;
      const lowest = given ? "finished" : "dismissed";
      this.#session.closedBy(this.#connection, answer.result, lowest, given);
    });
    return call;
  }

  /** Removes a range of pages, opens others in its place, or both. No call waits for the outcomes of the new pages. */
  edit(remove, uris, options) {
    const open = uris.map((uri) => ({ uri, params: { tag: this.silentTag() } }));
    const call = this.#connection.request("navigation.edit", {
      ...(remove && { remove }), ...(open.length > 0 && { open }), ...options,
    });
    call.whenAnswered((answer) => {
      if (!answer) return;
      if (answer.error) return this.#editFailed(call, answer.error, open);
      if (open.length > 0) this.#run.counts.edits += 1;
      const reason = open.length > 0 ? "replaced" : "dismissed";
      this.#session.closedBy(this.#connection, answer.result, reason, undefined, reason);
      this.#session.openedBy(this.#connection, answer.result.opened ?? [], uris);
    });
    return call;
  }

  #editFailed(call, error, open) {
    const isRace = ["notOnStack", "nothingStays", "stackChanged"].includes(error.data?.kind);
    const isRefused = open.some(({ params }) => !pagePlan(this.#run.seed, params.tag).agrees);
    if (isRace || (error.code === 2502 && isRefused)) return;
    const uris = open.map(({ uri }) => uri);
    const absent = uris.filter((uri) => this.#session.mayLackHost(call, uri));
    this.#failed(call, error, absent.find((uri) => /^web[23]:/.test(uri)) ?? absent[0] ?? uris[0]);
  }

  /** The possible results of the demo's own share task: whether the sheet finished. If it is not shown, the error has arrived before. */
  #shared({ result, error }) {
    if (typeof (result?.data ?? result)?.shared !== "boolean") this.#connection.fault(`share gave ${JSON.stringify(result ?? error)}`);
  }

  /** Calls a method of a page. Its host, or a client in it, responds as for a task. */
  callPage(page, options) {
    return this.invoke("page.call", { page, method: "work", ...options });
  }

  selectTab(index) {
    const call = this.#connection.request("navigation.selectTab", { index });
    call.whenAnswered((answer) => {
      if (answer?.error && answer.error.code !== 2502) this.#failed(call, answer.error, TABS[index]);
      if (answer?.result) this.#session.closedBy(this.#connection, answer.result);
    });
  }

  adopt(uri, style) {
    const call = this.#connection.request("navigation.adopt", { uri, style });
    this.#session.adopts += 1;
    call.whenAnswered((answer) => {
      if (!answer) return;
      if (answer.error) {
        this.#session.adopts -= 1;
        return this.#failed(call, answer.error);
      }
      this.#session.adopted(this.#connection, answer.result);
    });
    return call;
  }

  /** Whether a call had a reason to fail in this way. */
  #failed(call, { code, message, data }, uri = call.params.uri) {
    const { deadlineMs } = call.params;
    const age = performance.now() - call.begun;
    const isUndeclared = /^web[23]:/.test(uri ?? "");
    const isPageCall = call.method === "page.call";
    const isTab = call.method === "navigation.selectTab" || call.params.style === "tab";
    const reasons = {
      [-32800]: call.isCancelled,
      2408: deadlineMs !== undefined && age >= deadlineMs - 2,
      2404: (isPageCall && data?.kind === "notOnStack") || (isUndeclared && this.#session.mayLackHost(call, uri)),
      // The page can be called in a client that runs in it and has left.
      2504: isPageCall || (uri && (this.#session.mayLackHost(call, uri) || age > 9_900)),
      // The tab lost its page before the call was handled.
      2409: isTab,
      2429: data?.kind === "stackFull" || this.#connection.calls.size > 200,
      [-32602]: data?.kind === "invalidExts" && call.params.exts?.pop < 0,
    };
    if (!reasons[code]) {
      const request = JSON.stringify({ method: call.method, params: call.params });
      this.#connection.fault(`${request} failed without a reason, ${Math.round(age)} ms old: ${code} ${message}`);
    }
  }
}
