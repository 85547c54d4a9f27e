import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayValues

/// The pages or tasks that a client hosts, or the calls that it intercepts:
/// `{scheme?, patterns?, kind}`.
struct SessionHostDefinition: Sendable, Hashable {
  /// Bytes of a pattern.
  static let maxPatternLength = 1024

  let scheme: String?
  let patterns: [String]
  /// What the client does with the calls.
  let role: HostRole
  /// The sessions whose calls the host serves.
  var scope = HostScope.session

  /// What a client does with the calls of the URIs that it registers.
  enum HostRole: Sendable, Hashable {
    /// It shows pages, or runs tasks or services.
    case serves(RouteKind)
    /// It decides about the calls before a handler or host gets them. Indirect, so that hosts, which are
    /// passed on with many calls, stay small.
    indirect case intercepts(ClientInterceptor)
  }

  /// The kind of pages or tasks; `nil` for an interceptor.
  var kind: RouteKind? { if case .serves(let kind) = role { kind } else { nil } }

  /// The interceptor; `nil` for a host.
  var interceptor: ClientInterceptor? {
    if case .intercepts(let interceptor) = role { interceptor } else { nil }
  }

  /// The scope of a host.
  enum HostScope: String {
    case session
    /// All sessions of the server.
    case server
  }

  /// Decodes one definition; `path` names it in errors. Throws -32602, and 2429 for more than
  /// `maxPatterns`.
  init(_ value: Value, path: String, maxPatterns: Int) throws(CallError) {
    guard let members = value.object else {
      throw .invalidParams("\(path) must be an object {scheme?, patterns?, kind}")
    }
    let interceptor = try ClientInterceptor(members, path: path, maxGroups: maxPatterns)
    let kind = members["kind"]?.string.flatMap(RouteKind.init(rawValue:))
    guard let role = interceptor.map(HostRole.intercepts) ?? kind.map(HostRole.serves) else {
      throw .invalidParams(
        "\(path).kind must be \"page\", \"task\", \"service\" or \"interceptor\"")
    }
    switch members["scheme"] {
    case nil, .null: scheme = nil
    case .string(let text) where (try? RouteURI(text + ":"))?.scheme == text:
      scheme = text.lowercased()
    default: throw .invalidParams("\(path).scheme must be a URI scheme, without the colon")
    }
    var patterns: [String] = []
    switch members["patterns"] {
    case nil, .null: break
    case .array(let texts):
      guard texts.count <= maxPatterns else {
        throw CallError(.tooMany, "A host may have at most \(maxPatterns) patterns")
      }
      for (position, text) in texts.enumerated() {
        guard case .string(let text) = text, text.utf8.count <= Self.maxPatternLength else {
          throw .invalidParams(
            "\(path).patterns[\(position)] must be a string of at most \(Self.maxPatternLength) bytes"
          )
        }
        patterns.append(text)
      }
    default: throw .invalidParams("\(path).patterns must be an array of strings")
    }
    guard scheme != nil || !patterns.isEmpty || interceptor?.groups.isEmpty == false else {
      throw .invalidParams(
        "\(path) needs a scheme, patterns, or both\(interceptor == nil ? "" : ", or groups")")
    }
    switch members["scope"] {
    case nil, .null: break
    case .string(let text):
      guard let scope = HostScope(rawValue: text) else { fallthrough }
      self.scope = scope
    default: throw .invalidParams("\(path).scope must be \"session\" or \"server\"")
    }
    if scope == .server, kind == .page || interceptor != nil {
      throw .invalidParams(
        "\(path).scope: pages and interceptors belong to a session; tasks and services may be "
          + "hosted for the whole server")
    }
    self.role = role
    self.patterns = patterns
  }

  /// The schemes of the definition; nil among them stands for any scheme.
  var schemes: [String?] {
    if let scheme { return [scheme] }
    if interceptor?.groups.isEmpty == false { return [nil] }
    return patterns.map { (try? RoutePattern($0))?.scheme }
  }

  /// Decodes the `hosts` of a request: at most `limit`, with at most as many patterns each.
  static func parse(_ values: [Value], limit: Int) throws(CallError) -> [SessionHostDefinition] {
    guard values.count <= limit else {
      throw CallError(.tooMany, "A client may register at most \(limit) hosts")
    }
    var definitions: [SessionHostDefinition] = []
    for (position, value) in values.enumerated() {
      definitions.append(
        try SessionHostDefinition(
          value, path: "params.hosts[\(position)]", maxPatterns: limit))
    }
    return definitions
  }

  /// The scope of hosts that are registered together. Throws -32602 if they have different ones.
  static func scope(of definitions: [SessionHostDefinition]) throws(CallError) -> HostScope {
    let scopes = Set(definitions.map(\.scope))
    guard scopes.count <= 1 else {
      throw .invalidParams(
        "params.hosts: register session hosts and server-wide hosts in separate requests")
    }
    return scopes.first ?? .session
  }

  /// The approximate number of bytes that the definition holds: its strings are stored as they are
  /// and in the index.
  var size: Int {
    256 + (patterns + (interceptor?.groups ?? [])).reduce(0) { $0 + 4 * $1.utf8.count }
  }

  /// The JSON form on the wire.
  var value: Value {
    var fields: ValueObject = [:]
    if let scheme { fields["scheme"] = .string(scheme) }
    if !patterns.isEmpty { fields["patterns"] = .array(patterns.map(Value.string)) }
    switch role {
    case .serves(let kind): fields["kind"] = .string(kind.rawValue)
    case .intercepts(let interceptor): fields.merge(interceptor.members)
    }
    if scope == .server { fields["scope"] = .string(scope.rawValue) }
    return .object(fields)
  }
}

extension SessionHostDefinition: Codable {
  init(from decoder: any Decoder) throws {
    do {
      try self.init(Value(from: decoder), path: "", maxPatterns: .max)
    } catch let error as CallError {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.message))
    }
  }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
