import WayValues

extension BridgeClient {
  /// Pages that a client shows, a task or service that it runs, or calls that it decides about, for its
  /// session.
  public struct Host: Sendable {
    enum HostHandler: Sendable {
      case pages(any PageHost)
      case run(@Sendable (TaskCall) async throws -> Value)
      case intercepts(InterceptorHandler)
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

    /// Decides about calls of the session before a handler or host gets them: those of a scheme, limited
    /// to `patterns` if there are any, and those of routes in `groups`.
    ///
    /// ```swift
    /// let limit = BridgeClient.Host.interceptor("limit", patterns: ["action://pay"]) { call in
    ///   (call.params["sum"]?.integer ?? 0) > 100 ? .refuse("the user did not agree") : .next
    /// }
    /// ```
    ///
    /// It also sees the calls of its own client, and should let those pass that it makes to decide. A guest
    /// may not register one; with a policy, it needs a rule.
    ///
    /// - Parameters:
    ///   - name: the name, unique in this client; the error of a refused call contains it.
    ///   - scheme: the scheme, such as `native`; nil for none.
    ///   - patterns: patterns, which contain their scheme or begin with `/` if there is no `scheme`.
    ///   - groups: the groups of routes, from the route table.
    ///   - priority: the priority among all interceptors; the highest one sees a call first.
    ///   - timeout: how long the decision may take, at most 300 s; nil is 60 s. The call is refused after
    ///     it.
    ///   - interceptor: the code that decides.
    public static func interceptor(
      _ name: String, scheme: String? = nil, patterns: [String] = [], groups: [String] = [],
      priority: Int = 0, timeout: Duration? = nil, _ interceptor: @escaping InterceptorHandler
    ) -> Host {
      Host(
        declaration: HostDeclaration(
          interceptor: name, scheme: scheme, patterns: patterns, groups: groups, priority: priority,
          timeout: timeout),
        handler: .intercepts(interceptor))
    }

    /// Shows the pages of a declaration `{scheme?, patterns?, kind: "page"}`.
    package static func declared(_ value: Value, pages host: any PageHost) throws(CallError) -> Host
    {
      Host(declaration: try HostDeclaration(value, of: [.page]), handler: .pages(host))
    }

    /// Runs the tasks or services of a declaration
    /// `{scheme?, patterns?, kind: "task" or "service"}`.
    package static func declared(
      _ value: Value, _ run: @escaping @Sendable (TaskCall) async throws -> Value
    ) throws(CallError) -> Host {
      Host(declaration: try HostDeclaration(value, of: [.task, .service]), handler: .run(run))
    }

    /// Decides about the calls of a declaration `{kind: "interceptor", name, scheme?, patterns?, …}`.
    package static func declared(
      _ value: Value, intercepts interceptor: @escaping InterceptorHandler
    ) throws(CallError) -> Host {
      Host(
        declaration: try HostDeclaration(value, of: [.interceptor]),
        handler: .intercepts(interceptor))
    }

    /// The declaration that `session.open` and `host.register` send.
    var value: Value { declaration.value }
  }
}
