import WayValues

/// The declaration of a host or an interceptor, which also identifies it to the server.
struct HostDeclaration: Sendable, Hashable, Codable {
  /// What the client does with the calls that match.
  enum DeclaredKind: String, Sendable, Codable {
    case page, task, service
    /// It decides about the calls before a handler or host gets them.
    case interceptor
  }

  let scheme: String?
  /// At least one pattern; nil for none.
  let patterns: [String]?
  let kind: DeclaredKind
  // The members of an interceptor.
  var name: String?
  var groups: [String]?
  var priority: Int?
  var timeoutMs: Int64?
  /// `server` for a host of all sessions.
  var scope: String?

  /// The declaration of a host.
  init(scheme: String?, patterns: [String], kind: DeclaredKind) {
    self.scheme = scheme?.lowercased()
    self.patterns = patterns.isEmpty ? nil : patterns
    self.kind = kind
  }

  /// The declaration of an interceptor.
  init(
    interceptor name: String, scheme: String?, patterns: [String], groups: [String], priority: Int,
    timeout: Duration?
  ) {
    self.init(scheme: scheme, patterns: patterns, kind: .interceptor)
    self.name = name
    self.groups = groups.isEmpty ? nil : groups
    self.priority = priority
    timeoutMs = timeout?.wholeMilliseconds
  }

  /// Decodes the declaration of a host of one of these kinds. Throws -32602.
  init(_ value: Value, of kinds: Set<DeclaredKind>) throws(CallError) {
    guard let host = try? value.decode(as: HostDeclaration.self), kinds.contains(host.kind) else {
      throw .invalidParams("A host must be an object {scheme?, patterns?, kind}")
    }
    self.init(scheme: host.scheme, patterns: host.patterns ?? [], kind: host.kind)
    name = host.name
    groups = host.groups
    priority = host.priority
    timeoutMs = host.timeoutMs
    scope = host.scope
  }

  /// The form that `session.open` and `host.register` send.
  // Only a number that JSON cannot write is an error, and there is none.
  var value: Value { (try? ValueEncoder().encode(self)) ?? .null }
}

/// The host that the server has chosen for a call, and the pattern that matched.
struct MatchedHost: Decodable {
  private let scheme: String?
  private let pattern: String?
  private let kind: HostDeclaration.DeclaredKind

  /// Decodes `host` of `page.open` and `task.run`. Throws -32602.
  init(_ value: Value?) throws(CallError) {
    guard let host = try? value?.decode(as: MatchedHost.self) else {
      throw .invalidParams(
        "params.host must be the host that was chosen: {scheme?, pattern?, kind}")
    }
    self = host
  }

  func matches(_ host: HostDeclaration) -> Bool {
    host.kind == kind && host.scheme == scheme
      && (pattern.map { host.patterns?.contains($0) == true } ?? (host.patterns == nil))
  }
}

extension Duration {
  /// The duration in milliseconds, rounded up. If it is too long for an integer, a number beyond every
  /// limit of the server.
  var wholeMilliseconds: Int64 { Int64(exactly: (self / .milliseconds(1)).rounded(.up)) ?? .max }
}
