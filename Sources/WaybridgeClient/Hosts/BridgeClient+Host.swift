import WayNavigation
import WayValues

extension BridgeClient {
  /// What a client shows or runs for its session.
  public struct Host: Sendable {
    enum Handler: Sendable {
      case pages(any PageHost)
      case run(@Sendable (TaskCall) async throws -> Value)
    }

    let declaration: HostDeclaration
    let handler: Handler

    /// Shows the pages of a scheme such as `native`, or those of it that fit one of `patterns`
    /// (`native://address/:id`), where there are any. Of several hosts the most specific pattern
    /// wins, then the last registered.
    public static func pages(
      scheme: String, patterns: [String] = [], _ host: any PageHost
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: scheme, patterns: patterns, kind: .page),
        handler: .pages(host))
    }

    /// Shows the pages that fit one of the patterns, which name their scheme or begin with `/`.
    public static func pages(patterns: [String], _ host: any PageHost) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: patterns, kind: .page),
        handler: .pages(host))
    }

    /// Runs the tasks that fit a pattern such as `action://share`.
    ///
    /// It runs on the main actor, where its closure says so, else on the client's thread, which it
    /// must not block. Its Swift task is cancelled when the caller no longer waits. What it throws
    /// reaches the caller: a ``CallError`` as it is, where the code is the application's (1…1999,
    /// from 3000), anything else as 2502 with its text. ``Declined`` leaves the call to who comes
    /// next.
    public static func task(
      _ pattern: String, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: [pattern], kind: .task),
        handler: .run(run))
    }

    /// Runs the methods of services that fit a pattern such as `service://Clock/now`, as
    /// ``task(_:_:)`` does.
    public static func service(
      _ pattern: String, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) -> Host {
      Host(
        declaration: HostDeclaration(scheme: nil, patterns: [pattern], kind: .service),
        handler: .run(run))
    }

    /// Shows the pages that a declaration is for, `{scheme?, patterns?, kind: "page"}`.
    package static func declared(_ value: Value, pages host: any PageHost) throws(CallError) -> Host
    {
      Host(declaration: try HostDeclaration(value), handler: .pages(host))
    }

    /// Runs what a declaration is for, `{scheme?, patterns?, kind: "task" or "service"}`.
    package static func declared(
      _ value: Value, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) throws(CallError) -> Host {
      Host(declaration: try HostDeclaration(value), handler: .run(run))
    }

    /// As `session.open` and `host.register` declare it.
    var value: Value { declaration.value }
  }
}

/// What the server is told of a host, and knows it by.
struct HostDeclaration: Sendable, Hashable {
  let scheme: String?
  let patterns: [String]
  let kind: RouteKind

  init(scheme: String?, patterns: [String], kind: RouteKind) {
    self.scheme = scheme?.lowercased()
    self.patterns = patterns
    self.kind = kind
  }

  /// Reads what ``value`` gives. Fails with -32602.
  fileprivate init(_ value: Value) throws(CallError) {
    guard let kind = value["kind"]?.string.flatMap(RouteKind.init(rawValue:)) else {
      throw .invalidParams("A host is {scheme?, patterns?, kind}")
    }
    let patterns = value["patterns"]?.list?.compactMap(\.string) ?? []
    self.init(scheme: value["scheme"]?.string, patterns: patterns, kind: kind)
  }

  var value: Value {
    var members: ValueObject = [:]
    members["scheme"] = scheme.map(Value.string)
    if !patterns.isEmpty { members["patterns"] = .list(patterns.map(Value.string)) }
    members["kind"] = .string(kind.rawValue)
    return .object(members)
  }
}
