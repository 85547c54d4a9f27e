import WayNavigation
import WayValues

extension BridgeClient {
  /// Pages that a client shows, or a task or service that it runs, for its session.
  public struct Host: Sendable {
    enum HostHandler: Sendable {
      case pages(any PageHost)
      case run(@Sendable (TaskCall) async throws -> Value)
    }

    let declaration: HostDeclaration
    let handler: HostHandler

    /// Shows the pages of a scheme such as `native`; if there are `patterns`
    /// (`native://address/:id`), only those that match one. Of several hosts the most specific
    /// pattern wins, then the last registered host.
    public static func pages(
      scheme: String, patterns: [String] = [], _ host: any PageHost
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: scheme, patterns: patterns, kind: .page),
        handler: .pages(host))
    }

    /// Shows the pages that match one of the patterns, which contain their scheme or begin with
    /// `/`.
    public static func pages(patterns: [String], _ host: any PageHost) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: patterns, kind: .page),
        handler: .pages(host))
    }

    /// Runs the tasks that match a pattern such as `action://share`.
    ///
    /// The closure runs on the main actor if it is isolated to it, otherwise on the client's
    /// thread, which it must not block. Its Swift task is cancelled when the caller no longer
    /// waits.
    ///
    /// Errors reach the caller. A ``CallError`` with a code of the application (1…1999, from 3000)
    /// is passed on unchanged; any other error becomes 2502 with its text. ``Declined`` passes the
    /// call to the next host.
    public static func task(
      _ pattern: String, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: [pattern], kind: .task),
        handler: .run(run))
    }

    /// Runs the methods of services that match a pattern such as `service://Clock/now`, as
    /// ``task(_:_:)`` does.
    public static func service(
      _ pattern: String, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: [pattern], kind: .service),
        handler: .run(run))
    }

    /// Shows the pages of a declaration `{scheme?, patterns?, kind: "page"}`.
    package static func declared(_ value: Value, pages host: any PageHost) throws(CallError) -> Host
    {
      Host(declaration: try HostDeclaration(value), handler: .pages(host))
    }

    /// Runs the tasks or services of a declaration
    /// `{scheme?, patterns?, kind: "task" or "service"}`.
    package static func declared(
      _ value: Value, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) throws(CallError) -> Host {
      Host(declaration: try HostDeclaration(value), handler: .run(run))
    }

    /// The declaration that `session.open` and `host.register` send.
    var value: Value { declaration.value }
  }
}

/// The declaration of a host, which also identifies it to the server.
struct HostDeclaration: Sendable, Hashable {
  let scheme: String?
  let patterns: [String]
  let kind: RouteKind

  init(scheme: String?, patterns: [String], kind: RouteKind) {
    self.scheme = scheme?.lowercased()
    self.patterns = patterns
    self.kind = kind
  }

  /// Decodes the format of ``value``. Throws -32602.
  fileprivate init(_ value: Value) throws(CallError) {
    guard let kind = value["kind"]?.string.flatMap(RouteKind.init(rawValue:)) else {
      throw .invalidParams("A host must be an object {scheme?, patterns?, kind}")
    }
    let patterns = value["patterns"]?.array?.compactMap(\.string) ?? []
    self.init(scheme: value["scheme"]?.string, patterns: patterns, kind: kind)
  }

  var value: Value {
    var object: ValueObject = [:]
    object["scheme"] = scheme.map(Value.string)
    if !patterns.isEmpty { object["patterns"] = .array(patterns.map(Value.string)) }
    object["kind"] = .string(kind.rawValue)
    return .object(object)
  }
}
