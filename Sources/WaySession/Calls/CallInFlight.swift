import WayRPC
import WayRouting
import WayTransport
import WayValues

/// A request on another loop, which can be taken back.
protocol CancellableRequest: Sendable {
  /// The call has ended without the answer, for which its caller, on `loop`, owes until it has come.
  func cancel(owing caller: Client?, on loop: any EventLoop)
}

/// One invocation that waits for its end. Belongs to its ``Session``'s isolation.
final class CallInFlight {
  /// Who is answered.
  enum Caller {
    /// The sender of a request.
    case client(ReplyHandle, CallStart)
    /// Swift code of the app.
    case swift(SwiftCaller)

    /// The client among them.
    var client: Client? {
      if case .client(let address, _) = self { address.client } else { nil }
    }

    /// What its record needs, where somebody wants records.
    var note: CallTrace? {
      switch self {
      case .client(_, let mark): mark.note
      case .swift(let caller): caller.note
      }
    }
  }

  /// What works on a call, and so has to be stopped with it.
  enum Work {
    case none
    case task(Task<Void, Never>)
    /// What a client was asked.
    case request(RequestID, Client)
    /// What a client on another loop was asked.
    case errand(any CancellableRequest)
    /// The opening of a page, or a change of the stack, that waits for its turn or its host.
    case operation
    /// A page that is shown: the call ends with its outcome.
    case page(String)
    /// Another call, under the same key.
    case key(Keys.Name)
  }

  /// What a call keeps beside what its caller sent, about, in bytes.
  static let overhead = 1024

  let number: CallNumber
  let entry: Entry
  let caller: Caller
  var work = Work.none
  /// The way of a call that comes from the router, for when who serves it declines.
  var journey: Journey?
  /// Its span, where calls are traced.
  var span: SessionCallSpan?
  /// What its caller may do.
  var rights: Rights?
  /// The task that it has started, where anybody is told of tasks.
  var started: TaskStart?
  /// What it wants of the stack or a page, where anybody is told of failures.
  var attempt: FailedOperation?
  /// The URI that it was made with, for who resumes.
  var uri: String?
  /// The key that it was made under.
  var key: String?
  /// The params of the request of a call with a key, so that it can be made again.
  var request: Value?
  /// Rings when the caller's deadline has passed.
  var deadline: (any ScheduledWork)?
  /// When that is, in the loop's nanoseconds; nil without a deadline.
  var ends: UInt64?
  /// Whether nobody works on it here: another server will.
  var isParked = false
  /// Whether it does the work of a key, whose requests wait for it.
  var isOfKey = false
  /// Set by the first cancel, so that a second one does nothing.
  fileprivate var isStopped = false

  /// What it keeps; nil for a call of Swift code.
  private let charge: ByteBudget.Charge?

  /// It has come to who serves it, which only its record needs.
  @inline(never)
  func noted(_ route: String?, host: String, page: String? = nil) {
    caller.note?.reached(route, host: host, page: page)
  }

  /// Somebody works on it, for as long as that takes.
  func hasBegun() {
    if case .swift(let caller) = caller { caller.begun?() }
  }

  fileprivate init(
    _ number: CallNumber, _ entry: Entry, _ caller: Caller, _ charge: ByteBudget.Charge?
  ) {
    self.charge = charge
    self.number = number
    self.entry = entry
    self.caller = caller
  }
}

/// Swift code that waits for a call.
struct SwiftCaller {
  /// Takes the one answer.
  let answer: (Result<Answer, CallError>) -> Void
  /// Told the page that the call waits for from then on.
  var shown: ((String) -> Void)?
  /// Told that somebody works on a task for it.
  var begun: (() -> Void)?
  /// Told how far it is.
  var progress: ((Value) -> Void)?
  /// For its record, where somebody watches.
  var note: CallTrace?
}

/// The calls of one session that did not end at once. Each is taken out exactly once, with its end.
struct Calls {
  /// What is left to do about a call that is stopped.
  enum Stop {
    /// It has been taken out: it is to be answered, and its work to be ended.
    case end(CallInFlight)
    /// It was cancelled while it waits for a page that is shown: the page is to close.
    case close(page: String)
  }

  private var calls: [CallNumber: CallInFlight] = [:]
  private var last: CallNumber = 0

  var count: Int { calls.count }

  /// All of them, in no order.
  var all: some Collection<CallInFlight> { calls.values }

  /// All of them, in the order in which they began.
  var numbers: [CallNumber] { calls.keys.sorted() }

  subscript(number: CallNumber) -> CallInFlight? { calls[number] }

  /// A number that no other call has.
  mutating func makeNumber() -> CallNumber {
    last += 1
    return last
  }

  /// Keeps a call until its end.
  mutating func begin(
    _ number: CallNumber, _ entry: Entry, _ caller: CallInFlight.Caller,
    _ charge: ByteBudget.Charge? = nil
  ) -> CallInFlight {
    let call = CallInFlight(number, entry, caller, charge)
    calls[number] = call
    return call
  }

  /// Takes a call out that has come to its end; nil where it has had it.
  mutating func end(_ number: CallNumber) -> CallInFlight? {
    guard let call = calls.removeValue(forKey: number) else { return nil }
    call.deadline?.cancel()
    return call
  }

  /// Ends a call before its work is done. One whose page is shown goes on, when it is cancelled,
  /// until the page is closed; nil when there is nothing to do.
  mutating func stop(_ number: CallNumber, _ reason: StopReason) -> Stop? {
    guard let call = calls[number], !call.isStopped || reason != .cancelled else { return nil }
    call.isStopped = true
    if case .page(let page) = call.work, reason == .cancelled { return .close(page: page) }
    return end(number).map(Stop.end)
  }
}

/// Why the work of a call is ended before it has a result.
enum StopReason {
  case cancelled
  case deadline
  case callerGone
  case serverEnds
  /// The same, and nobody has begun to work on the call.
  case serverEndsBefore

  /// What the caller is answered.
  var error: CallError {
    switch self {
    case .cancelled: CallError(.cancelled, "The caller cancelled the call")
    case .callerGone: .stopped("The caller has left the session")
    case .serverEnds: .stopped("The server ends")
    case .serverEndsBefore:
      CallError(.cancelledByServer, "The server ends, and has not begun with the call")
    case .deadline: CallError(.deadline, "The call was not done within its deadline")
    }
  }
}
