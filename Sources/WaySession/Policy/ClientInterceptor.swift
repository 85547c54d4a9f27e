import WayRPC
import WayRouting
import WayValues

/// An interceptor that a client registers: the calls that it sees, beside those of its patterns, and
/// its place among the other interceptors.
struct ClientInterceptor: Sendable, Hashable {
  /// The members of a registration on the wire.
  private struct WireMembers: Codable {
    let kind: String
    let name: String
    let groups: [String]?
    let priority: Int?
    let timeoutMs: Int?
  }

  /// The maximum length of a name or a group, in bytes.
  private static let maxName = 128
  /// The maximum timeout, in milliseconds.
  private static let maxTimeoutMs = 300_000

  /// The name; the error of a refused call contains it.
  let name: String
  /// The groups whose routes the interceptor sees.
  let groups: [String]
  /// The priority among all interceptors.
  let priority: Int
  /// How long the client may take for a decision, in milliseconds.
  private let timeoutMs: Int

  var timeout: Duration { .milliseconds(timeoutMs) }

  /// Decodes the members of a registration. Returns `nil` if it is that of a host, and throws -32602 if
  /// a member is wrong; `path` names the registration in errors.
  init?(_ members: ValueObject, path: String, maxGroups: Int) throws(CallError) {
    guard members["kind"] == "interceptor" else { return nil }
    let given: WireMembers
    do { given = try RecordCoder.decode(from: .object(members), path) } catch {
      throw .invalidParams("\(error)")
    }
    name = given.name
    groups = given.groups ?? []
    priority = given.priority ?? 0
    timeoutMs = given.timeoutMs ?? 60_000
    guard groups.count <= maxGroups else {
      throw CallError(.tooMany, "An interceptor may have at most \(maxGroups) groups")
    }
    guard ([name] + groups).allSatisfy({ (1...Self.maxName).contains($0.utf8.count) }) else {
      throw .invalidParams(
        "\(path).name and its groups must be strings of 1 to \(Self.maxName) bytes")
    }
    guard (1...Self.maxTimeoutMs).contains(timeoutMs) else {
      throw .invalidParams("\(path).timeoutMs must be from 1 to \(Self.maxTimeoutMs)")
    }
  }

  /// The members of the registration on the wire.
  var members: ValueObject {
    let registration = WireMembers(
      kind: "interceptor", name: name, groups: groups.isEmpty ? nil : groups, priority: priority,
      timeoutMs: timeoutMs)
    return RecordCoder.value(of: registration).object ?? [:]
  }
}
