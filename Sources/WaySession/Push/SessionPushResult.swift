import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The outcome of a push in one session, or at one client.
enum PushOutcome: Sendable {
  /// It was carried out; the value of the call, `nil` if it has none.
  case delivered(Value?)
  /// It waits for a host or client.
  case waiting
  case failed(CallError)
}

/// The result of a push: counts, and a page of details.
struct SessionPushResult: Sendable {
  var receipt = DeliveryReceipt()
  /// An entry for each session or client, in no order, as far as there is room.
  var entries: [Value] = []
  /// Whether there are more entries.
  var hasMore = false
  /// The error of a session that has rejected the push.
  var firstError: CallError?
  /// The servers that have not responded; they count as failed.
  var silentServers: [String] = []

  /// The result of `session.push`.
  var value: Value {
    var members = receipt.members
    if !entries.isEmpty { members["results"] = .array(entries) }
    if hasMore { members["more"] = true }
    return .object(members)
  }

  /// The approximate memory, in bytes.
  var size: Int { value.size }

  /// The receipt of a deep link. Throws if it was rejected wherever it has arrived.
  var linkReceipt: DeliveryReceipt {
    get throws(CallError) {
      if let firstError, receipt.delivered == 0, receipt.waiting == 0 { throw firstError }
      return receipt
    }
  }
}

// The form that other servers get: ``value`` with the first error, whose entry may have had no room. It
// has no data, which has no limit.
extension SessionPushResult: Codable {
  init(from decoder: any Decoder) throws {
    let value = try Value(from: decoder)
    receipt = DeliveryReceipt(peerValue: value)
    entries = value["results"]?.array ?? []
    hasMore = value["more"] == true
    firstError = value["firstError"].map(CallError.init(peerValue:))
  }

  func encode(to encoder: any Encoder) throws {
    var members = value.object ?? [:]
    members["firstError"] = firstError.map {
      CallError(code: $0.code, message: $0.message).value
    }
    try members.encode(to: encoder)
  }
}

/// Collects the result of a push from many sessions. Usable from any thread. The entries are limited
/// in bytes, so that the result can always be sent.
final class PushCollector: Sendable {
  /// The levels of nesting that a message may have, less those around an entry.
  private static let maxEntryDepth = JSON.maxDepth - 5

  private struct CollectorState {
    var result = SessionPushResult()
    var remainingBytes: Int
  }

  private let state: Locked<CollectorState>
  private let isLimited: Bool

  /// `maxBytes` is the number of bytes that all entries may have as JSON; `Int.max` for any.
  init(maxBytes: Int) {
    state = Locked(CollectorState(remainingBytes: maxBytes))
    isLimited = maxBytes < .max
  }

  /// The result so far.
  var result: SessionPushResult { state.withLock { $0.result } }

  /// Adds counts without entries.
  func add(_ receipt: DeliveryReceipt) { state.withLock { $0.result.receipt += receipt } }

  /// Adds the outcome in one session or at one client.
  func add(
    _ outcome: PushOutcome, session: String, user: String? = nil, client: String? = nil
  ) {
    var members: ValueObject = ["session": .string(session)]
    members["user"] = user.map(Value.string)
    members["client"] = client.map(Value.string)
    var receipt = DeliveryReceipt()
    var error: CallError?
    switch outcome {
    case .delivered(let value):
      receipt.delivered = 1
      members["state"] = "delivered"
      members["result"] = value
    case .waiting:
      receipt.waiting = 1
      members["state"] = "waiting"
    case .failed(let failure):
      receipt.failed = 1
      members["state"] = "failed"
      members["error"] = failure.value
      error = failure
    }
    add(receipt, members, error)
  }

  /// Adds the result of a server.
  func add(_ result: SessionPushResult) {
    state.withLock { state in
      state.result.receipt += result.receipt
      if result.hasMore { state.result.hasMore = true }
      if state.result.firstError == nil { state.result.firstError = result.firstError }
    }
    for case .object(let members) in result.entries {
      add(DeliveryReceipt(), members, members["error"].map(CallError.init(peerValue:)))
    }
  }

  /// Adds a server that has not responded. It is not known whether it has carried out the push.
  func add(_ error: CallError, of server: String) {
    state.withLock { $0.result.silentServers.append(server) }
    add(
      DeliveryReceipt(failed: 1),
      ["server": .string(server), "state": "failed", "error": error.value], error)
  }

  private func add(_ receipt: DeliveryReceipt, _ members: ValueObject, _ error: CallError?) {
    let size = isLimited ? Self.encodedSize(of: members) : 0
    let cutMembers = isLimited ? Self.cut(members) : members
    let cutSize = isLimited ? Self.encodedSize(of: cutMembers) : 0
    state.withLock { state in
      state.result.receipt += receipt
      if state.result.firstError == nil { state.result.firstError = error }
      if let size, size <= state.remainingBytes {
        state.remainingBytes -= size
        state.result.entries.append(.object(members))
      } else if let cutSize, cutSize <= state.remainingBytes {
        state.remainingBytes -= cutSize
        state.result.entries.append(.object(cutMembers))
      } else {
        state.result.hasMore = true
      }
    }
  }

  /// Returns an entry without the parts that others have chosen.
  private static func cut(_ members: ValueObject) -> ValueObject {
    var members = members
    if members["result"] != nil {
      members["result"] = nil
      members["cut"] = true
    }
    if var error = members["error"]?.object, error["data"] != nil {
      error["data"] = nil
      members["error"] = .object(error)
      members["cut"] = true
    }
    return members
  }

  /// Returns the bytes of an entry as JSON, with the comma after it; `nil` if it nests too deep.
  private static func encodedSize(of members: ValueObject) -> Int? {
    var writer = JSONWriter()
    do { try writer.write(.object(members), maxDepth: maxEntryDepth) } catch { return nil }
    return writer.count + 1
  }
}
