import Synchronization
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayValues

/// The stream of what happens in one session, which hooks, events, the log and the metrics read.
/// Belongs to its ``Session``'s isolation.
final class Happenings {
  /// Who wants to know. Asked with every call, and calls nobody.
  @exclusivity(unchecked) var subscribers: Subscribers
  private let session: String
  private let environment: SessionEnvironment
  private let members: SessionClients
  private let mail: ClientWriter
  private let guide: SessionDestinationResolver
  /// Who tells those who watch. Made when it is asked for: most sessions are watched by nobody.
  var witness: InspectorSink {
    InspectorSink(of: session, environment, members: members, guide: guide)
  }
  /// What the observer is told.
  private let observed: Happening.Kinds

  init(
    of session: String, _ environment: SessionEnvironment, _ subscribers: Subscribers,
    members: SessionClients, mail: ClientWriter, guide: SessionDestinationResolver
  ) {
    self.session = session
    self.environment = environment
    self.subscribers = subscribers
    self.members = members
    self.mail = mail
    self.guide = guide
    observed = environment.observer.kinds
  }

  /// Whether anybody wants to know of happenings of a kind.
  func isTold(_ kind: Happening.Kinds) -> Bool {
    subscribers.kinds.contains(kind) || observed.contains(kind)
      || Happening.Kinds.ofHooks.contains(kind) && guide.snapshot.hasHooks
  }

  /// Tells everybody who wants to know; costs a look where nobody does. `caller` is whose call it
  /// is about, nil for the app's.
  @inline(__always)
  func tell(
    _ kind: Happening.Kinds, _ happening: @autoclosure () -> Happening, by caller: Caller? = nil
  ) {
    // Where it stands, so that nothing is copied for nobody.
    if isTold(kind) { tell(kind, told: happening(), by: caller) }
  }

  private func tell(_ kind: Happening.Kinds, told happening: Happening, by caller: Caller?) {
    if environment.watch.isOn { witness.saw(happening, by: caller) }
    if subscribers.kinds.contains(kind), let (topic, data) = happening.event {
      tell(topic, data, kind)
    }
    let snapshot = guide.snapshot
    if snapshot.hasHooks, let notice = happening.notice {
      snapshot.tell(notice, caller ?? Caller(session: session))
    }
    if observed.contains(kind) { environment.observer.tell(session, happening) }
  }

  private func tell(_ topic: SystemTopic, _ data: ValueObject, _ kind: Happening.Kinds) {
    let event = event(topic, data)
    if subscribers.isHeardBySwift(kind) { environment.owner.heard(event) }
    guard let bytes = mail.notification("event", event.value) else { return }
    for (id, subscriptions) in subscribers.clients where subscriptions.covers(topic.rawValue) {
      // They tell of what is others'.
      guard let client = members[id], !client.rights.caller.isGuest else { continue }
      mail.deliver(bytes, to: client)
    }
  }

  /// Tells one client what concerns it alone.
  func tell(_ topic: SystemTopic, _ data: ValueObject, to client: Client) {
    mail.notify(client, "event", event(topic, data).value)
  }

  private func event(_ topic: SystemTopic, _ data: ValueObject) -> BridgeEvent {
    var told: ValueObject = ["session": .string(session)]
    told.merge(data)
    return BridgeEvent(topic: topic.rawValue, data: .object(told), at: environment.now())
  }

  /// Sends a whole `event` message to those who want its topic: to one client, where it is named.
  func deliver(_ bytes: [UInt8], _ topic: String, only name: String? = nil) {
    for (id, subscriptions) in subscribers.clients where subscriptions.covers(topic) {
      guard let client = members.sender(id), name == nil || name == client.name else { continue }
      mail.deliver(bytes, to: client)
    }
  }
}

// What is told of calls.
extension Happenings {
  private static let failures = Atomic(0)

  /// What a caller is told of an error that Swift code threw. One that is no business of callers is
  /// told under a number, which is all that the caller learns.
  func thrown(_ error: any Error) -> CallError {
    if let told = CallError(thrown: error) { return told }
    let number = Self.failures.add(1, ordering: .relaxed).newValue
    tell(.fault, .threw(number: number, error))
    return CallError(
      .internal, "The task failed: the server's log says why, under the number \(number)",
      data: ["failure": .integer(Int64(number))])
  }

  /// A call is answered, with the code of an error, or nil for none, and by what `answer` gives.
  /// `mark` is that of one that did not end at once.
  func record(
    _ code: Int?, of address: ReplyHandle, _ mark: CallStart?,
    _ answer: () -> Result<Answer, CallError>
  ) {
    let time = environment.meter.ended(address.method, code: code, since: mark?.start)
    guard let note = mark == nil ? address.client.note : mark?.note else { return }
    record(note, code, of: address, time, answer())
  }

  @inline(never)
  private func record(
    _ note: CallTrace, _ code: Int?, of address: ReplyHandle, _ time: UInt64,
    _ answer: Result<Answer, CallError>
  ) {
    witness.answered(note, answer, of: address, after: time)
    tell(
      .call,
      .called(
        CallRecord(
          client: address.client.name, id: address.id, method: note.method, uri: note.uri,
          code: code ?? 0, nanoseconds: time)))
  }

  /// A call has come to no page and no task.
  func tellNowhere(_ uri: @autoclosure () -> String?, _ error: CallError, by caller: Caller) {
    guard isTold(.route), let uri = uri() else { return }
    tell(.route, .routeFailed(uri: uri, error), by: caller)
  }

  /// A change of the stack, or a call of a page, was refused or has failed.
  func tell(failed attempt: FailedOperation?, _ error: CallError) {
    guard let attempt else { return }
    tell(.route, .attemptFailed(attempt, error), by: attempt.caller)
  }

  /// A task begins, under a number of the session's calls; nil where nobody is told of its end.
  func tellStart(
    of uri: @autoclosure () -> RouteURI, _ route: @autoclosure () -> Route?, by caller: Caller,
    _ number: () -> CallNumber
  ) -> TaskStart? {
    guard isTold(.task) else { return nil }
    let task = TaskStart(
      number: number(), uri: uri().text, route: route()?.name, caller: caller,
      began: environment.loop.nanoseconds)
    tell(.task, .taskStarted(task), by: caller)
    return task
  }

  /// A task has ended, with its value where there is no error.
  func tellEnd(of task: TaskStart, _ error: CallError?) {
    tell(.task, .taskEnded(task, error: error, after: elapsed(since: task.began)), by: task.caller)
  }

  /// The time since a moment of the loop's clock, in nanoseconds.
  func elapsed(since start: UInt64) -> Duration {
    .nanoseconds(Int64(clamping: environment.loop.nanoseconds &- start))
  }
}
