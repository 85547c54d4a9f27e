import WayNavigation
import WayRouting
import WayValues

/// The code that is asked before a page closes.
struct PageGuard {
  enum GuardOwner {
    case client(ClientID)
    /// The Swift code that shows the page: its ``PageHandler/mayLeave``.
    case app(@Sendable (Page, _ destination: Page?) async -> Bool)
  }

  /// How long a guard may take to respond, if it has not set a time, and at most. The guards of all
  /// pages that one operation closes have the same time together.
  static let defaultTimeout = Duration.seconds(30)
  static let maxTimeout = Duration.seconds(60)

  let owner: GuardOwner
  let timeout: Duration

  /// Whether a client owns the guard.
  func isOwned(by client: ClientID) -> Bool {
    if case .client(client) = owner { true } else { false }
  }
}

/// A question to the owner of a guard: whether its page may close.
struct LeaveQuestion {
  /// The number of the question in its session.
  let number: Int
  let page: Page
  let owner: PageGuard.GuardOwner
  let timeout: Duration
  /// The outcome that the page would have.
  let reason: Outcome.OutcomeKind
  /// The page that would be on top; `nil` if there would be none.
  let destination: Page?
  /// The caller of the operation.
  let caller: Caller
}

/// The params of `page.leave`.
struct PageLeaveParams: Encodable {
  private struct LeaveDestination: Encodable {
    let page: String
    let uri: String?
    let route: String?
  }

  private let page: String
  private let reason: String
  private let to: LeaveDestination?
  private let caller: Value

  /// `showsDestination` is false if the client may not see the page that would be on top.
  init(_ question: LeaveQuestion, showsDestination: Bool) {
    page = question.page.id
    reason = question.reason.rawValue
    to = question.destination.map { page in
      LeaveDestination(
        page: page.id, uri: showsDestination ? page.uri : nil,
        route: showsDestination ? page.route : nil)
    }
    caller = question.caller.value
  }
}

/// The result of `page.leave`.
private struct PageLeaveResult: Decodable {
  let allow: Bool
  let reason: String?
}

/// The members of the error of an operation whose page has to stay open.
private struct LeaveRefusal: Encodable {
  let page: String
  let reason: String
}

/// The operations that wait for the guards of the pages that they would close.
///
/// The guards of one operation are asked one after another, from the top. If another operation waits
/// for the same guard of the same page already, the guard is not asked again.
struct LeaveQuestions {
  /// The response of a guard.
  enum LeaveVerdict: Equatable {
    case allow
    /// The page has to stay open. The reason is for people; it may be empty.
    case deny(reason: String)
  }

  /// What follows for an operation.
  enum LeaveStep {
    /// Ask the owner of a guard.
    case ask(LeaveQuestion)
    /// Another operation has asked the guard already.
    case wait
    /// Perform the operation, if it closes exactly these pages.
    case approved(Set<String>)
    case refused(CallError)
  }

  private struct PendingLeave {
    let closing: Set<String>
    /// The questions that follow, in reverse order.
    var following: [LeaveQuestion]
    /// When the time of all guards ends, in nanoseconds of the loop's clock.
    let deadline: UInt64
    /// The question that is waited for.
    var awaited = 0
  }

  private struct AskedQuestion {
    let question: LeaveQuestion
    var waiting: [CallNumber]
    var request: PageOpening.PageOpenRequest?
  }

  private var leaves: [CallNumber: PendingLeave] = [:]
  private var asked: [Int: AskedQuestion] = [:]
  private var lastNumber = 0

  /// Returns the number of a new question.
  mutating func makeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Asks the guards before the operation of a call closes pages. `now` is the loop's clock, in
  /// nanoseconds.
  mutating func begin(
    _ call: CallNumber, closing: Set<String>, asking questions: [LeaveQuestion], at now: UInt64
  ) -> LeaveStep {
    let time = UInt64(PageGuard.maxTimeout / .nanoseconds(1))
    leaves[call] = PendingLeave(
      closing: closing, following: questions.reversed(), deadline: now + time)
    return advance(call, at: now)
  }

  private mutating func advance(_ call: CallNumber, at now: UInt64) -> LeaveStep {
    guard var leave = leaves[call] else { return .wait }
    guard let question = leave.following.popLast() else {
      leaves[call] = nil
      return .approved(leave.closing)
    }
    guard now < leave.deadline else {
      leaves[call] = nil
      return .refused(.leaveRefused(by: question.page, "its guards did not respond in time"))
    }
    defer { leaves[call] = leave }
    if let number = asked.first(where: { $1.question.isSame(as: question) })?.key {
      asked[number]?.waiting.append(call)
      leave.awaited = number
      return .wait
    }
    leave.awaited = question.number
    asked[question.number] = AskedQuestion(question: question, waiting: [call])
    return .ask(question)
  }

  /// Records the request for a question, which has to be withdrawn if no operation waits any more.
  mutating func recordRequest(_ request: PageOpening.PageOpenRequest, for number: Int) {
    asked[number]?.request = request
  }

  /// Returns what follows for each operation that has waited for a question.
  mutating func answer(
    _ number: Int, _ verdict: LeaveVerdict, at now: UInt64
  ) -> [(call: CallNumber, step: LeaveStep)] {
    guard let answered = asked.removeValue(forKey: number) else { return [] }
    return answered.waiting.map { call in
      switch verdict {
      case .allow: return (call, advance(call, at: now))
      case .deny(let reason):
        leaves[call] = nil
        return (call, .refused(.leaveRefused(by: answered.question.page, reason)))
      }
    }
  }

  /// Removes an operation that has ended. Returns the request that is no longer needed.
  mutating func abandon(_ call: CallNumber) -> PageOpening.PageOpenRequest? {
    guard let leave = leaves.removeValue(forKey: call), var question = asked[leave.awaited] else {
      return nil
    }
    question.waiting.removeAll { $0 == call }
    asked[leave.awaited] = question.waiting.isEmpty ? nil : question
    return question.waiting.isEmpty ? question.request : nil
  }
}

extension LeaveQuestions.LeaveVerdict {
  /// Reads the result of `page.leave`. A client that is gone, or has lost its state, has no objection.
  init(_ result: Result<Value, SessionClientRequestFailure>) {
    switch result {
    case .success(let value):
      guard let decision = try? value.decode(as: PageLeaveResult.self) else {
        self = .deny(reason: "its response has no boolean \"allow\"")
        return
      }
      self = decision.allow ? .allow : .deny(reason: decision.reason ?? "")
    case .failure(let failure) where failure.lossOfHost != nil: self = .allow
    case .failure(let failure): self = .deny(reason: failure.callError.message)
    }
  }
}

extension LeaveQuestion {
  /// Whether two questions go to the same guard of the same page.
  fileprivate func isSame(as other: LeaveQuestion) -> Bool {
    guard page.id == other.page.id else { return false }
    switch (owner, other.owner) {
    case (.client(let client), .client(let otherClient)): return client == otherClient
    case (.app, .app): return true
    case (.client, .app), (.app, .client): return false
    }
  }
}

extension CallError {
  /// The error of an operation whose page has to stay open.
  fileprivate static func leaveRefused(by page: Page, _ reason: String) -> CallError {
    let text = "The page \(page.id.quoted) does not close"
    let refusal = RecordCoder.value(of: LeaveRefusal(page: page.id, reason: reason))
    return CallError(
      .refused, reason.isEmpty ? text : "\(text): \(reason)", kind: "leaveRefused",
      data: refusal.object ?? [:])
  }

  /// The error of an operation that would close other pages than those whose guards have allowed it.
  static let stackChanged = CallError(
    .conflict, "The stack has changed while the guards of its pages were asked",
    kind: "stackChanged", data: ["retryable": true])
}
