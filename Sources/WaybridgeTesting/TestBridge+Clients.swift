import Waybridge
import WaybridgeClient

// Further clients.
extension TestBridge {
  /// Connects a further client of a session.
  ///
  /// Throws `CallError`:
  /// - -32602 for an invalid host or a method name that the protocol reserves
  /// - 2404 for a page that is not on the stack
  /// - -32002 for a client without a session
  ///
  /// - Parameters:
  ///   - other: a client of the session; nil means ``client``.
  ///   - name: the client's name.
  ///   - page: the id of the page that it runs in.
  ///   - hosts: the hosts that it registers.
  ///   - methods: methods that the server and, for a client in a page, other clients may call.
  public func join(
    _ other: BridgeClient? = nil, name: String = "member", page: String? = nil,
    hosts: [BridgeClient.Host] = [], methods: [String: BridgeClient.ClientMethod] = [:]
  ) async throws(CallError) -> BridgeClient {
    var session: BridgeClient.SessionDescription? = session
    if let other { session = await other.session }
    guard let session else {
      throw CallError(.sessionNotOpen, "The client to join has no session")
    }
    return try await memoryServer.connect(
      .init(
        name: name, version: "1", join: session.join, page: page, hosts: hosts, methods: methods))
  }

  /// Connects a client with its own session.
  ///
  /// Throws `CallError`: -32602 for an invalid host or a method name that the protocol reserves,
  /// 2401 if `BridgeConfiguration.sessions.identify` rejects the token.
  ///
  /// - Parameters:
  ///   - name: the client's name.
  ///   - token: the token that authenticates it.
  ///   - hosts: the hosts that it registers.
  ///   - methods: methods that the server may call.
  public func connect(
    name: String = "other", token: String? = nil, hosts: [BridgeClient.Host] = [],
    methods: [String: BridgeClient.ClientMethod] = [:]
  ) async throws(CallError) -> BridgeClient {
    try await memoryServer.connect(
      .init(name: name, version: "1", token: token, hosts: hosts, methods: methods))
  }

  /// Connects a further client of a session, which shows pages and runs tasks under the test's
  /// control.
  ///
  /// Throws `CallError` -32602 for an invalid scheme or pattern.
  ///
  /// - Parameters:
  ///   - schemes: the schemes whose pages it shows.
  ///   - patterns: the patterns whose pages it shows; they contain their scheme or begin with `/`.
  ///   - tasks: the patterns whose tasks it runs, each until the test completes
  ///     ``TestHost/nextTask()``.
  ///   - other: a client of the session; nil means ``client``.
  public func registerHost(
    _ schemes: String..., patterns: [String] = [], tasks: [String] = [],
    for other: BridgeClient? = nil
  ) async throws(CallError) -> TestHost {
    let client = try await join(other, name: "host")
    return try await TestHost(
      on: client,
      pages: { recorder in
        let patternLists = patterns.isEmpty ? [] : [patterns]
        return schemes.map { .pages(scheme: $0, recorder) }
          + patternLists.map { .pages(patterns: $0, recorder) }
      }, tasks: tasks, timeout: timeout)
  }
}
