import WayRPC
import WayTransport
import WayValues

extension BridgeClient {
  /// Connects and opens a session, or joins one.
  ///
  /// Hosts may receive page requests before this returns. The first connection is attempted once; a
  /// connection that is lost later is restored as ``SessionOptions/reconnect`` states.
  ///
  /// Throws ``CallError``:
  /// - 2503 if there is no server at the address or it rejects the connection
  /// - -32602 if the address, a host or a method's name is invalid
  /// - 2409 if two interceptors have one name
  /// - the error of `session.open`: 2401 for invalid ``JoinCredentials``, 2404 for a page that is
  ///   not on the stack, 2429 for a full session
  ///
  /// - Parameters:
  ///   - url: `ws://HOST:PORT/bridge`.
  ///   - options: the client's name, version and hosts.
  public static func connect(
    to url: String, session options: SessionOptions
  ) async throws(CallError) -> BridgeClient {
    let client = try make(for: url, subprotocol: Handshake.sessionSubprotocol)
    do {
      try await client.open(options)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  /// Invites a guest, which joins with the returned credentials (``SessionOptions/join``) and has
  /// only the rights given here.
  ///
  /// Throws ``CallError``:
  /// - 2404 for a page that is not on the stack
  /// - 2403 for a group that this client is not in, or if this client is a guest itself
  /// - -32602 for an invalid pattern
  ///
  /// - Parameters:
  ///   - page: the page that the guest runs in.
  ///   - hosts: schemes and patterns that the guest may host.
  ///   - routes: names of routes, and patterns, that the guest may call; nil for all.
  ///   - groups: groups of this client that the guest is in.
  ///   - topics: topics that the guest may publish. A `*` at the end of a topic matches any rest.
  ///   - uses: how many guests may use the invitation at one time.
  ///   - expires: the time within which it must first be used, from 1 ms to a day.
  public func invite(
    page: String? = nil, hosts: [String] = [], routes: [String]? = nil, groups: [String] = [],
    topics: [String] = [], uses: Int = 1, expires: Duration = .seconds(60)
  ) async throws(CallError) -> JoinCredentials {
    var params: ValueObject = [
      "hosts": .array(hosts.map(Value.string)), "groups": .array(groups.map(Value.string)),
      "uses": .integer(Int64(uses)), "expiresMs": .integer(expires.wholeMilliseconds),
    ]
    if !topics.isEmpty { params["topics"] = .array(topics.map(Value.string)) }
    params["page"] = page.map(Value.string)
    params["routes"] = routes.map { .array($0.map(Value.string)) }
    let response = try await perform("session.invite", .object(params))
    guard let join = try? response.decode(as: JoinMessage.self) else {
      throw .malformedResponse("session.invite", response)
    }
    return JoinCredentials(session: join.session, token: join.token)
  }

  /// Sends a new token of the same user. Returns when the token expires, in milliseconds since
  /// 1970-01-01 UTC; nil for never. Throws ``CallError``: 2401 for a rejected token, 2403 for
  /// another user's.
  @discardableResult
  public func renew(_ token: String) async throws(CallError) -> Int64? {
    let expiresAt = try await perform("session.renew", ["token": .string(token)])["expiresAt"]
    options?.token = token
    return expiresAt?.integer
  }

  func prepare(_ options: SessionOptions) throws(CallError) {
    for name in options.methods.keys { try Self.checkMethodName(name) }
    try hosts.checkNames(with: options.hosts)
    self.options = options
    methods = options.methods
    hosts = BridgeClientHosts(options.hosts)
    ownPage = options.page
  }
}
