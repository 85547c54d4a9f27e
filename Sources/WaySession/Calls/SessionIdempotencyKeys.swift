import WayRPC
import WayTransport
import WayValues

/// What a call with a key asks for: another one under the same key is a mistake.
struct KeyedRequest: Hashable {
  let method: String
  /// The URI, or the page and its method.
  let target: String
  let params: ValueObject

  /// About what it keeps, in bytes.
  var size: Int { method.utf8.count + target.utf8.count + Value.object(params).size }
}

/// The calls of one session that were made under keys: those under way, and the results of those
/// that have ended. Belongs to its ``Session``'s isolation.
struct Keys {
  /// A key, apart from the same one of whom it is no business of.
  struct Name: Hashable {
    /// Whose key it is; nil for those that share the session's.
    let owner: String?
    let text: String

    /// Under which it is kept.
    var part: String { RecordKey.key(owner: owner, text) }
  }

  /// A call under way.
  struct Running {
    let request: KeyedRequest
    /// The call that does the work.
    let leader: CallNumber
    /// Those that wait for its result, one for each request.
    var waiting: [CallNumber] = []
    /// The page that it has opened.
    var page: String?
  }

  /// What there is under a key.
  enum Entry {
    case running(Running)
    case ended(KeyedRequest, Result<Answer, CallError>)
  }

  private struct Ended {
    let request: KeyedRequest
    let result: Result<Answer, CallError>
    /// What is kept for it.
    let charge: ByteBudget.Charge
    /// When it ended, in the loop's nanoseconds.
    let at: UInt64
    /// Counts the uses of all.
    var used: Int
  }

  /// How long a result is kept, in nanoseconds.
  static let time: UInt64 = 600_000_000_000

  private var running: [Name: Running] = [:]
  private var ended: [Name: Ended] = [:]
  private var uses = 0
  private let limit: Int
  private let journal: Journal?

  /// Keeps so many results, and takes so many calls under way.
  init(limit: Int, _ journal: Journal? = nil) {
    self.limit = limit
    self.journal = journal
  }

  /// What there is under a key, which is used by that.
  mutating func find(_ name: Name, at now: UInt64) -> Entry? {
    if let running = running[name] { return .running(running) }
    guard let found = ended[name], now &- found.at < Self.time else { return nil }
    uses += 1
    ended[name]?.used = uses
    return .ended(found.request, found.result)
  }

  /// A call begins. Fails with 2429 where there are too many.
  mutating func begin(
    _ name: Name, _ request: KeyedRequest, leader: CallNumber
  ) throws(CallError) {
    guard running.count < limit else {
      throw CallError(
        .tooMany, "\(limit) calls with a key are under way in the session",
        data: ["limit": .integer(Int64(limit))])
    }
    forget(name)
    running[name] = Running(request: request, leader: leader)
  }

  /// A request waits for the result.
  mutating func wait(_ call: CallNumber, for name: Name) { running[name]?.waiting.append(call) }

  /// A request does not wait any more.
  mutating func leave(_ call: CallNumber, _ name: Name) {
    running[name]?.waiting.removeAll { $0 == call }
  }

  /// The call that does the work, where this is the last that waits for it.
  func leader(ofLast call: CallNumber, _ name: Name) -> CallNumber? {
    guard let running = running[name], running.waiting == [call] else { return nil }
    return running.leader
  }

  /// The call has opened a page; gives those that wait.
  mutating func opened(_ page: String, _ name: Name) -> [CallNumber] {
    running[name]?.page = page
    journal?.note(name.part)
    return running[name]?.waiting ?? []
  }

  /// The page that the call of a key waits for; nil for none.
  func page(of name: Name) -> String? { running[name]?.page }

  /// Those that wait for a call.
  func waiting(for name: Name) -> [CallNumber] { running[name]?.waiting ?? [] }

  /// The call has ended; gives those that wait for its result. That is kept for those to come,
  /// unless nobody has worked on the call.
  mutating func end(
    _ name: Name, _ result: Result<Answer, CallError>, within budget: ByteBudget, at now: UInt64
  ) -> [CallNumber] {
    guard let call = running.removeValue(forKey: name) else { return [] }
    journal?.note(name.part)
    if case .failure(let error) = result, error.isBeforeWork { return call.waiting }
    for (name, call) in ended where now &- call.at >= Self.time { forget(name) }
    while ended.count >= limit { removeOldest() }
    let size = Self.size(call.request, name, result)
    // What finds no room among the others' takes the place of older ones.
    repeat {
      if let charge = try? budget.charge(size) {
        uses += 1
        ended[name] = Ended(
          request: call.request, result: result, charge: charge, at: now, used: uses)
        break
      }
    } while removeOldest()
    return call.waiting
  }

  /// About what a result keeps, in bytes.
  private static func size(
    _ request: KeyedRequest, _ name: Name, _ result: Result<Answer, CallError>
  ) -> Int {
    request.size + name.text.utf8.count + result.size
  }

  @discardableResult
  private mutating func removeOldest() -> Bool {
    guard let oldest = ended.min(by: { $0.value.used < $1.value.used })?.key else { return false }
    forget(oldest)
    return true
  }

  private mutating func forget(_ name: Name) {
    if ended.removeValue(forKey: name) != nil { journal?.note(name.part) }
  }
}

// What is kept of them.
extension Keys {
  /// What is kept under a key; nil for nothing. Of calls under way that is only one that waits for a
  /// page that is shown: others are made again.
  ///
  /// Of a result that is how old it is by now, not when it was there: the server that goes on with the
  /// session may have a clock that is off by more than results are kept.
  func record(of name: Name, at now: UInt64) -> ValueObject? {
    if let running = running[name], let page = running.page {
      return ["request": running.request.value, "page": .string(page)]
    }
    guard let ended = ended[name] else { return nil }
    return [
      "request": ended.request.value,
      "ageMs": .integer(Int64(clamping: (now &- ended.at) / 1_000_000)),
      "used": .integer(Int64(ended.used)),
      "result": ended.result.value,
    ]
  }

  /// The names of all.
  var names: [Name] { Array(running.keys) + Array(ended.keys) }

  /// A result that was kept, and when it was `used` among the uses of all: those that were used last
  /// come first, so that they have room.
  mutating func restore(
    _ name: Name, _ request: KeyedRequest, _ result: Result<Answer, CallError>,
    within budget: ByteBudget, at: UInt64, used: Int
  ) {
    let size = Self.size(request, name, result)
    guard ended.count < limit, let charge = try? budget.charge(size) else { return }
    uses = max(uses, used)
    ended[name] = Ended(request: request, result: result, charge: charge, at: at, used: used)
  }

  /// A call under way that waits for a page that is shown.
  mutating func restore(
    _ name: Name, _ request: KeyedRequest, leader: CallNumber, page: String
  ) {
    running[name] = Running(request: request, leader: leader, page: page)
  }
}

extension Keys.Name {
  /// That of a part; nil for one of another kind.
  init?(part: String) {
    guard let key = RecordKey.key(of: part) else { return nil }
    self.init(owner: key.owner, text: key.text)
  }
}

extension KeyedRequest {
  var value: Value {
    ["method": .string(method), "target": .string(target), "params": .object(params)]
  }

  init(_ record: Record) throws(Record.Fault) {
    self.init(
      method: try record.string("method"), target: try record.string("target"),
      params: try record.object("params"))
  }
}

extension CallError {
  /// Whether nobody has worked on the call that it is about, so that it may be made again.
  fileprivate var isBeforeWork: Bool {
    switch protocolCode {
    case .invalidParams, .forbidden, .noRoute, .wrongKind, .conflict, .tooLarge,
      .invalidParameters, .refused, .tooMany, .unavailable, .redirectLoop:
      true
    // Who was asked may have gone in the middle of it.
    case .hostAbsent: data?["retryable"] != false
    default: false
    }
  }
}

extension Result<Answer, CallError> {
  /// About what it keeps, in bytes.
  fileprivate var size: Int {
    switch self {
    case .success(let answer): answer.value.size
    case .failure(let error): error.message.utf8.count + (error.data.map(\.size) ?? 0)
    }
  }
}
