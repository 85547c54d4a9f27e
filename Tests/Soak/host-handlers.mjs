import { pagePlan, taskPlan } from "./plans.mjs";

const later = (milliseconds, work) => (milliseconds === 0 ? work() : void setTimeout(work, milliseconds));

/** A client in its role as a host: responds to the server's requests as the plans say. */
export class HostHandlers {
  #run;
  #session;
  #connection;
  /** Requests of the server that have no response yet, by id. */
  #owed = new Map();

  constructor(run, session, connection) {
    this.#run = run;
    this.#session = session;
    this.#connection = connection;
    connection.handleOther((message) => (message.id === undefined ? this.#receiveNotification(message) : this.#receiveRequest(message)));
  }

  /** The number of responses that the server waits for. */
  get owed() {
    return this.#owed.size;
  }

  #receiveRequest(request) {
    const { method, params } = request;
    if (method === "page.open") return this.#openPage(request, params.page);
    if (method === "task.run" || method === "page.call") return this.#runTask(request, params);
    if (method !== "page.close") return this.#connection.fault(`asked for ${method}`);
    this.#session.closedAtHost(this.#connection, params.page, params.reason);
    this.#run.counts.closed += 1;
    this.#connection.send({ id: request.id, result: null });
  }

  /** Keeps a request until `answer` is called or, if it is patient, until it is cancelled. */
  #defer(id, plan, answer) {
    const owed = { isCancelled: false, answer: undefined, plan };
    owed.answer = () => {
      if (!this.#owed.delete(id) || this.#connection.isLeaving) return;
      answer(owed.isCancelled);
    };
    this.#owed.set(id, owed);
    later(plan.delay, owed.answer);
  }

  #openPage({ id }, page) {
    const request = this.#session.hostRequested(this.#connection, page.params.tag, "page.open");
    if (!request) return;
    const known = this.#session.pageRequested(this.#connection, page, request);
    if (!known) return;
    const plan = pagePlan(this.#run.seed, request.tag);
    this.#defer(id, plan, (isCancelled) => {
      const agrees = plan.agrees && !(isCancelled && plan.isPatient);
      this.#session.answered(known, agrees);
      if (agrees) this.#connection.send({ id, result: null });
      else this.#connection.send({ id, error: plan.error ?? { code: -32800, message: "cancelled" } });
    });
  }

  #runTask({ id, method }, { uri, params }) {
    const request = this.#session.hostRequested(this.#connection, params.tag, method);
    if (!request) return;
    if (uri === "action://share") return this.#share(id, params);
    const plan = taskPlan(this.#run.seed, params.tag);
    for (let step = 0; step < (plan.progress ?? 0); step += 1) this.#progress(id, step);
    this.#defer(id, plan, (isCancelled) => {
      // A host can send progress after it was cancelled; it is dropped.
      if (isCancelled) this.#progress(id, "too late");
      if (plan.error) this.#connection.send({ id, error: plan.error });
      else this.#connection.send({ id, result: plan.value });
    });
  }

  /** Shows a sheet, and responds with its result. */
  #share(id, params) {
    const tag = `${params.tag}-sheet`;
    this.#session.begin(tag, this.#connection);
    const call = this.#connection.request("router.open", {
      uri: "native://share/sheet", params: { tag }, style: "present",
    });
    this.#session.request(tag).call = call;
    call.onShown = (page) => this.#session.shown(this.#connection, call, page);
    call.whenAnswered((answer) => {
      if (!answer || this.#connection.isLeaving) return;
      if (answer.result) this.#session.outcome(this.#connection, call, answer.result);
      this.#connection.send({ id, result: { tag: params.tag, shared: answer.result?.outcome === "finished" } });
    });
  }

  #progress(id, value) {
    this.#connection.send({ method: "$/progress", params: { id, value } });
  }

  #receiveNotification({ method, params }) {
    if (method === "page.resume") return;
    if (method === "event") {
      const { topic, data } = params;
      const covers = (wanted) => wanted === topic || (wanted.endsWith("*") && topic.startsWith(wanted.slice(0, -1)));
      if (![...this.#connection.topics.keys()].some(covers)) {
        this.#connection.fault(`told ${topic}, which it does not want`);
      }
      this.#run.counts.events += 1;
      if (topic === "page.opened" || topic === "page.closed") this.#session.eventReceived(this.#connection, topic, data);
      return;
    }
    if (method !== "$/cancelRequest") return this.#connection.fault(`told ${method}`);
    const owed = this.#owed.get(params.id);
    if (!owed) return;
    owed.isCancelled = true;
    if (owed.plan.isPatient) owed.answer();
  }
}
