import WayRPC
import WayValues

/// Something that who watches is told of.
struct InspectorRecord: Sendable {
  let session: String
  /// The name of the client that it is about; nil for none.
  let client: String?
  /// All but what was said.
  let members: ValueObject
  /// What was said.
  var params: Value?
  var result: Value?

  /// About what it keeps, in bytes.
  var size: Int { members.members.reduce(64) { $0 + $1.name.utf8.count + $1.value.size } }

  /// As `admin.records` tells it: with what was said, as far as that is at most so many bytes of
  /// JSON; nil leaves it out.
  func value(messages limit: Int?) -> Value {
    guard let limit else { return .object(members) }
    var members = members
    for (name, said) in [("params", params), ("result", result)] {
      guard let said else { continue }
      switch Self.cut(said, at: limit) {
      case .success(let value): members[name] = value
      case .failure(let cut): members[name + "Cut"] = .string(cut.text)
      }
    }
    return .object(members)
  }

  private struct TruncatedText: Error {
    let text: String
  }

  /// How deep a message may nest to be told as a value: a batch has it below its own levels.
  private static let maxDepth = JSON.maxDepth - 8

  private static func cut(_ said: Value, at limit: Int) -> Result<Value, TruncatedText> {
    let isDeep = said.nests(deeperThan: maxDepth)
    // Memory takes more than text, so that what is small needs no writing.
    if said.size <= limit, !isDeep { return .success(said) }
    guard let text = try? JSON.text(said) else { return .failure(TruncatedText(text: "")) }
    if text.utf8.count <= limit {
      return isDeep ? .failure(TruncatedText(text: text)) : .success(said)
    }
    var end = text.utf8.index(text.startIndex, offsetBy: limit)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return .failure(TruncatedText(text: String(text[..<end])))
  }
}

extension Value {
  /// What may be told of a message: tokens are none of it.
  func withoutTokens(of method: String) -> Value {
    guard method.hasPrefix("session."), var members = object else { return self }
    for name in ["token", "joinToken"] where members[name]?.string != nil {
      members[name] = "…"
    }
    if let join = members["join"] { members["join"] = join.withoutTokens(of: method) }
    return .object(members)
  }

  /// Whether more than so many lists and objects lie within one another.
  fileprivate func nests(deeperThan levels: Int) -> Bool {
    switch self {
    case .list(let values):
      levels == 0 || values.contains { $0.nests(deeperThan: levels - 1) }
    case .object(let object):
      levels == 0 || object.members.contains { $0.value.nests(deeperThan: levels - 1) }
    default: false
    }
  }

  /// How many bytes it has as compact JSON.
  var jsonSize: Int { (try? JSON.text(self).utf8.count) ?? 0 }
}

/// The last records, by count and bytes.
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
    // Moving is paid once for many, and what is left out is not kept longer than as much again.
    if first > records.count / 2 {
      records.removeFirst(first)
      first = 0
    }
  }

  /// Those of a session, the oldest first, at most so many.
  func last(_ limit: Int, of session: String) -> [Value] {
    records[first...].reversed().lazy.filter { $0.session == session }.prefix(limit).reversed()
      .map { .object($0.members) }
  }
}
