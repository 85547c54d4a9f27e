import WayRPC
import WayRouting
import WayTransport
import WayValues

/// A request on another loop or server that can be cancelled.
protocol CancellableRequest: Sendable {
  /// Cancels the request, because its call has ended without the response. The slot of `caller`,
  /// which is on `loop`, stays in use until the response arrives.
  func cancel(holdingSlotOf caller: Client?, on loop: any EventLoop)
}

/// A call that waits for its end. Belongs to its ``Session``'s isolation.
final class ActiveCall {
  /// The caller, which gets the result.
  enum ActiveCaller {
    /// The sender of a request.
    case client(ReplyHandle, CallStart)
    /// The server itself.
    case app(AppCaller)

    /// The client, if a client has made the call.
    var client: Client? {
      if case .client(let handle, _) = self { handle.client } else { nil }
    }

    /// The trace for the call's record, if records are wanted.
    var trace: CallTrace? {
      switch self {
      case .client(_, let callStart): callStart.trace
      case .app(let caller): caller.trace
      }
    }
  }

  /// The work on a call, which stops with the call.
  enum CallWork {
    case none
    case task(Task<Void, Never>)
    /// A request to a client.
    case request(RequestID, Client)
    /// A request to a client on another loop or server.
    case remoteRequest(any CancellableRequest)
    /// The opening of a page, or a change of the stack, that waits for its turn or its host.
    case operation
    /// A page that is shown: the call ends with its outcome.
    case page(String)
    /// Another call under the same idempotency key.
    case key(ScopedKey)
    /// A gate of the call's route.
    case gate(String)
  }

  /// The approximate memory of a call beyond the data of its caller, in bytes.
  static let overhead = 1024

  let number: CallNumber
  let kind: CallKind
  let caller: ActiveCaller
  var work = CallWork.none
  /// The resolution of a routed call, for when its handler or host declines.
  var resolution: SessionCallResolution?
  /// The declared result of the task or method that works on the call; `nil` if none is declared.
  var declaredResult: DeclaredResult?
  /// The session of a server-wide host that works on the call, and the blobs that the host may fetch.
  var foreignHost: (session: String, loan: BlobGrants.BlobLoan?)?
  /// The span of the call, if calls are traced.
  var span: SessionCallSpan?
  /// The rights of the caller.
  var rights: Rights?
  /// The task that the call has started, if task events are observed.
  var taskStart: TaskStart?
  /// The operation on the stack or a page, if failures are observed.
  var attemptedOperation: SessionFailedOperation?
  /// The URI of the request, for a client that resumes.
  var uri: String?
  /// The idempotency key of the call.
  var idempotencyKey: String?
  /// The params of a request with an idempotency key, so that the call can be made again.
  var requestParams: Value?
  /// Fires when the caller's deadline has passed.
  var deadlineTimer: (any ScheduledWork)?
  /// The deadline, in nanoseconds of the loop's clock; `nil` if there is none.
  var deadline: UInt64?
  /// Whether the call is left to another server, and no work on it runs here.
  var isParked = false
  /// Whether the store has the call, so that its response must not be sent before it is stored.
  var isStored = false
  /// Whether the call counts as one that its client has in flight. It does not while it only waits
  /// for the outcome of a page that is shown.
  var isCounted = true
  /// Set by the first cancellation, so that a second one has no effect.
  fileprivate var isStopped = false

  /// The memory charge of the call; `nil` for a call of Swift code.
  private let charge: ByteBudget.Charge?

  /// Records the host that the call has reached, which only the call's record needs.
  @inline(never)
  func recordTarget(
    _ route: @autoclosure () -> String?, host: @autoclosure () -> String,
    page: @autoclosure () -> String? = nil
  ) {
    caller.trace?.recordTarget(route(), host: host(), page: page())
  }

  /// The idempotency key whose work the call does, and whose requests wait for it.
  var leadKey: ScopedKey? {
    if case .app(let caller) = caller, case .key(let name) = caller.receiver { name } else { nil }
  }

  fileprivate init(
    _ number: CallNumber, _ kind: CallKind, _ caller: ActiveCaller, _ charge: ByteBudget.Charge?
  ) {
    self.charge = charge
    self.number = number
    self.kind = kind
    self.caller = caller
  }
}

/// The caller of a call that the server makes itself.
struct AppCaller {
  /// The receiver of the result.
  enum ResultReceiver {
    /// Swift code, or a push. It receives the one result, and the page that the call waits for from
    /// then on.
    case code(
      onResult: (Result<SessionCallResponse, CallError>) -> Void,
      onPageShown: ((String) -> Void)? = nil)
    /// All requests under an idempotency key.
    case key(ScopedKey)
    /// The deep links of the session, one of which is being opened.
    case deepLinks
    /// A gate whose page is being opened.
    case gate(String)
  }

  /// Whether code of the process waits for the result, which ends with the process.
  var isSwiftCode: Bool {
    switch receiver {
    case .code, .deepLinks: true
    case .key, .gate: false
    }
  }

  /// The rights of the caller, whose refusal is recorded; `nil` if other calls get the result and
  /// record it.
  var rights: Rights?
  let receiver: ResultReceiver
  /// The trace for the call's record, if a client inspects the session.
  var trace: CallTrace?
}

/// The calls of one session that did not complete at once. Each is removed exactly once, when it
/// ends.
struct ActiveCalls {
  /// The remaining action for a call that is stopped.
  enum StopAction {
    /// The call was removed: it needs a response, and its work has to stop.
    case end(ActiveCall)
    /// The call was cancelled while it waits for a shown page: the page has to close.
    case close(page: String)
  }

  private var calls: [CallNumber: ActiveCall] = [:]
  private var lastNumber: CallNumber = 0

  var count: Int { calls.count }

  /// All calls, in no order.
  var all: some Collection<ActiveCall> { calls.values }

  /// All calls, in the order in which they began.
  var inOrder: [ActiveCall] { calls.values.sorted { $0.number < $1.number } }

  /// The calls of clients, in no order.
  var ofClients: [ActiveCall] { calls.values.filter { $0.caller.client != nil } }

  /// The numbers of all calls, in the order in which they began.
  var numbers: [CallNumber] { calls.keys.sorted() }

  subscript(number: CallNumber) -> ActiveCall? { calls[number] }

  /// Returns a number that no other call has.
  mutating func makeNumber() -> CallNumber {
    lastNumber += 1
    return lastNumber
  }

  /// Adds a call, which stays until its end.
  mutating func begin(
    _ number: CallNumber, _ kind: CallKind, _ caller: ActiveCall.ActiveCaller,
    _ charge: ByteBudget.Charge? = nil
  ) -> ActiveCall {
    let call = ActiveCall(number, kind, caller, charge)
    calls[number] = call
    return call
  }

  /// Removes a call that has ended. Returns `nil` if it was removed before.
  mutating func end(_ number: CallNumber) -> ActiveCall? {
    guard let call = calls.removeValue(forKey: number) else { return nil }
    call.deadlineTimer?.cancel()
    return call
  }

  /// Stops a call before its work is done. A cancelled call whose page is shown continues until the
  /// page is closed. Returns `nil` if there is nothing to do.
  mutating func stop(_ number: CallNumber, _ reason: StopReason) -> StopAction? {
    guard let call = calls[number], !call.isStopped || reason != .cancelled else { return nil }
    call.isStopped = true
    if case .page(let page) = call.work, reason == .cancelled { return .close(page: page) }
    return end(number).map(StopAction.end)
  }
}

/// The reason why a call is stopped before it has a result.
enum StopReason {
  case cancelled
  case deadlineExceeded
  case callerLeft
  case serverShutdown
  /// The server stops, and no work on the call has begun.
  case serverShutdownBeforeStart

  /// The error that the caller gets.
  var error: CallError {
    switch self {
    case .cancelled: CallError(.cancelled, "The caller cancelled the call")
    case .callerLeft: .cancelledByServer("The caller has left the session")
    case .serverShutdown: .cancelledByServer("The server is shutting down")
    case .serverShutdownBeforeStart:
      CallError(.cancelledByServer, "The server is shutting down and did not start the call")
    case .deadlineExceeded: CallError(.deadline, "The call did not end within its deadline")
    }
  }
}
