import Logging
import WayPatterns
import WaySession

/// The fields of one log line. A field that has no value is left out.
struct LogFields {
  /// The maximum number of strings in a field.
  private static let maxListed = 64

  private(set) var metadata: Logger.Metadata = [:]

  /// Creates the fields that identify a client.
  init(_ client: EventClient?) {
    guard let client else { return }
    add("session", client.session)
    add("client", client.id)
    add("name", client.name)
    add("user", client.user)
    add("address", client.address)
    add("origin", client.origin)
    if let agent = client.agent { add("agent", agent.id ?? agent.name ?? "") }
    if client.isGuest { metadata["guest"] = .stringConvertible(true) }
  }

  /// Creates the fields of an audit record.
  init(_ record: AuditRecord) {
    self.init(record.client)
    add("event", "audit")
    add("action", record.action)
    add("method", record.method)
    add("target", record.target)
    add("cause", record.cause)
    add("version", record.version)
    add("sessions", record.sessionCount)
    add("clients", record.removedClients)
    if !record.removedClients.isEmpty { add("clientCount", record.removedClients.count) }
    add("groups", record.grantedGroups)
    switch record.result {
    case .done: add("result", "done")
    case .incomplete(let failedServers):
      add("result", "incomplete")
      add("failedServers", failedServers)
    case .failed(let code):
      add("result", "failed")
      add("code", code)
    case .refused(let code, let rule, let reason):
      add("result", "refused")
      add("code", code)
      add("rule", rule)
      add("reason", reason)
    case .suppressed(let count, let rule):
      add("result", "suppressed")
      add("count", count)
      add("rule", rule)
    }
  }

  /// Adds the fields of a call. The query of its URI may contain data that does not belong in a log.
  mutating func add(_ call: CallRecord) {
    add("id", "\(call.id)")
    add("method", call.method)
    add("code", call.code)
    add("uri", call.uri.map(RouteURI.logForm(of:)))
    metadata["ms"] = .stringConvertible(Double(call.nanoseconds / 1_000) / 1_000)
  }

  /// Adds a string of a peer, short and printable.
  mutating func add(_ name: String, _ text: String?) {
    if let text { metadata[name] = text.logValue }
  }

  /// Adds the first strings of a list, unless it is empty.
  mutating func add(_ name: String, _ texts: [String]) {
    guard !texts.isEmpty else { return }
    metadata[name] = .array(texts.prefix(Self.maxListed).map(\.logValue))
  }

  mutating func add(_ name: String, _ number: Int?) {
    if let number { metadata[name] = .stringConvertible(number) }
  }
}
