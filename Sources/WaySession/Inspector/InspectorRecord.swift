import WayRPC
import WayValues

/// A record for clients that inspect the server.
struct InspectorRecord: Sendable {
  let session: String
  /// The name of the client that the record is about; nil if there is none.
  let client: String?
  /// All members except for messages.
  let members: ValueObject
  /// The message's params and result.
  var params: Value?
  var result: Value?

  /// Approximate memory that it uses, in bytes.
  var size: Int { members.members.reduce(64) { $0 + $1.name.utf8.count + $1.value.size } }

  /// The record as `admin.records` reports it. It includes a message if that has at most `limit`
  /// bytes of JSON, and a truncated text otherwise; nil leaves messages out.
  func value(messages limit: Int?) -> Value {
    guard let limit else { return .object(members) }
    var members = members
    for (name, value) in [("params", params), ("result", result)] {
      guard let value else { continue }
      switch Self.truncated(value, at: limit) {
      case .success(let shown): members[name] = shown
      case .failure(let truncated): members[name + "Cut"] = .string(truncated.text)
      }
    }
    return .object(members)
  }

  private struct TruncatedText: Error {
    let text: String
  }

  /// How deep a message may nest to be reported as a value: a batch adds levels of its own.
  private static let maxDepth = JSON.maxDepth - 8

  private static func truncated(_ value: Value, at limit: Int) -> Result<Value, TruncatedText> {
    let isDeep = value.nests(deeperThan: maxDepth)
    // Memory is larger than JSON, so a small value need not be encoded.
    if value.size <= limit, !isDeep { return .success(value) }
    guard let text = try? JSON.text(value) else { return .failure(TruncatedText(text: "")) }
    if text.utf8.count <= limit {
      return isDeep ? .failure(TruncatedText(text: text)) : .success(value)
    }
    var end = text.utf8.index(text.startIndex, offsetBy: limit)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return .failure(TruncatedText(text: String(text[..<end])))
  }
}

extension Value {
  /// A copy of a message's params without tokens, which are not reported.
  func withoutTokens(of method: String) -> Value {
    guard method.hasPrefix("session."), var members = object else { return self }
    for name in ["token", "joinToken"] where members[name]?.string != nil {
      members[name] = "…"
    }
    if let join = members["join"] { members["join"] = join.withoutTokens(of: method) }
    return .object(members)
  }

  /// Whether arrays and objects nest more than `levels` deep.
  func nests(deeperThan levels: Int) -> Bool {
    switch self {
    case .array(let values):
      levels == 0 || values.contains { $0.nests(deeperThan: levels - 1) }
    case .object(let object):
      levels == 0 || object.members.contains { $0.value.nests(deeperThan: levels - 1) }
    default: false
    }
  }

  /// The size as compact JSON, in bytes.
  var jsonSize: Int { (try? JSON.text(self).utf8.count) ?? 0 }
}

/// The most recent records, limited by count and bytes.
struct RecordRing: Sendable {
  private static let maxCount = 2048
  private static let maxBytes = 1 << 20
  private var records: [InspectorRecord] = []
  private var first = 0
  private var bytes = 0

  mutating func add(_ record: InspectorRecord) {
    var record = record
    record.params = nil
    record.result = nil
    bytes += record.size
    records.append(record)
    while records.count - first > Self.maxCount || bytes > Self.maxBytes {
      bytes -= records[first].size
      first += 1
    }
    // Removing many at once is cheap, and at most as many again are kept longer.
    if first > records.count / 2 {
      records.removeFirst(first)
      first = 0
    }
  }

  /// The last records of a session, the oldest first, at most `limit`.
  func last(_ limit: Int, of session: String) -> [Value] {
    records[first...].reversed().lazy.filter { $0.session == session }.prefix(limit).reversed()
      .map { .object($0.members) }
  }
}
