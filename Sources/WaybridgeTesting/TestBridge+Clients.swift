import Waybridge
import WaybridgeClient

// Further clients.
extension TestBridge {
  /// A further client of a session.
  ///
  /// Throws `CallError`: -32602 for a wrong host, or a method that is the protocol's, 2404 for a
  /// page that is not on the stack, -32002 for a member without session.
  ///
  /// - Parameters:
  ///   - member: a client of the session; nil means ``client``.
  ///   - name: what it calls itself.
  ///   - page: the id of the page that it runs in.
  ///   - hosts: what it shows and runs.
  ///   - methods: what the server and, of a client in a page, other clients may call.
  public func join(
    _ member: BridgeClient? = nil, name: String = "member", page: String? = nil,
    hosts: [BridgeClient.Host] = [], methods: [String: BridgeClient.Method] = [:]
  ) async throws(CallError) -> BridgeClient {
    var session: BridgeClient.Session? = session
    if let member { session = await member.session }
    guard let session else {
      throw CallError(.sessionNotOpen, "The client that is to be joined has no session")
    }
    return try await door.connect(
      .init(
        name: name, version: "1", join: session.join, page: page, hosts: hosts, methods: methods))
  }

  /// A client in a session of its own.
  ///
  /// Throws `CallError`: -32602 for a wrong host, or a method that is the protocol's, 2401 where
  /// `BridgeConfiguration.identify` refuses the token.
  ///
  /// - Parameters:
  ///   - name: what it calls itself.
  ///   - token: what it is identified by.
  ///   - hosts: what it shows and runs.
  ///   - methods: what the server may call.
  public func connect(
    name: String = "other", token: String? = nil, hosts: [BridgeClient.Host] = [],
    methods: [String: BridgeClient.Method] = [:]
  ) async throws(CallError) -> BridgeClient {
    try await door.connect(
      .init(name: name, version: "1", token: token, hosts: hosts, methods: methods))
  }

  /// A further client of a session, which shows pages and runs tasks as the test tells it.
  ///
  /// Throws `CallError` -32602 for a wrong scheme or pattern.
  ///
  /// - Parameters:
  ///   - schemes: shows the pages of these.
  ///   - patterns: shows the pages that fit one of these, which name their scheme or begin with
  ///     `/`.
  ///   - tasks: runs the tasks that fit one of these patterns, each until ``TestHost/task()`` is
  ///     answered.
  ///   - member: a client of the session; nil means ``client``.
  public func host(
    _ schemes: String..., patterns: [String] = [], tasks: [String] = [],
    for member: BridgeClient? = nil
  ) async throws(CallError) -> TestHost {
    let client = try await join(member, name: "host")
    return try await TestHost(
      on: client,
      pages: { record in
        let ofPatterns = patterns.isEmpty ? [] : [patterns]
        return schemes.map { .pages(scheme: $0, record) }
          + ofPatterns.map { .pages(patterns: $0, record) }
      }, tasks: tasks, patience: patience)
  }
}
