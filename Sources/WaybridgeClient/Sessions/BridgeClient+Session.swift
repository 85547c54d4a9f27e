import WayRPC
import WayValues

extension BridgeClient {
  /// The subprotocol with which sessions are opened.
  private static let subprotocol = "waybridge.v1"

  /// Connects and opens a session, or joins one.
  ///
  /// Hosts may be asked for pages before this returns. A connection that is lost later is made again
  /// as ``SessionOptions/reconnect`` says; the first is tried once. Throws ``CallError``: 2503 when there is no
  /// server at the address or it refuses, -32602 when the address, a host or a method's name is
  /// wrong, and what the server answers to `session.open` (2401 for a wrong ``Join``, 2404 for a
  /// page that is not on the stack, 2429 for a full session).
  ///
  /// - Parameters:
  ///   - url: `ws://HOST:PORT/bridge`.
  ///   - options: what the client says of itself, and what it hosts.
  public static func connect(
    to url: String, session options: SessionOptions
  ) async throws(CallError) -> BridgeClient {
    let client = try make(for: url, subprotocol: subprotocol)
    do {
      try await client.open(options)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  /// Invites a guest, who joins with what this gives (``SessionOptions/join``) and may do this and
  /// no more. Throws ``CallError``: 2404 for a page that is not on the stack, 2403 for a group that
  /// this client is not in, and where it is a guest itself, -32602 for a wrong pattern.
  ///
  /// - Parameters:
  ///   - page: the page that the guest runs in.
  ///   - hosts: schemes and patterns that it may host.
  ///   - routes: names of routes, and patterns, that it may call; nil for all.
  ///   - groups: groups of this client that it is in.
  ///   - uses: how many guests may be there with it at one time.
  ///   - expires: until when it can be used first, from 1 ms to a day.
  public func invite(
    page: String? = nil, hosts: [String] = [], routes: [String]? = nil, groups: [String] = [],
    uses: Int = 1, expires: Duration = .seconds(60)
  ) async throws(CallError) -> Join {
    var params: ValueObject = [
      "hosts": .list(hosts.map(Value.string)), "groups": .list(groups.map(Value.string)),
      "uses": .integer(Int64(uses)), "expiresMs": .integer(Int64(expires / .milliseconds(1))),
    ]
    params["page"] = page.map(Value.string)
    params["routes"] = routes.map { .list($0.map(Value.string)) }
    let answer = try await perform("session.invite", .object(params))
    guard let session = answer["session"]?.string, let token = answer["token"]?.string else {
      throw .malformed("session.invite", answer)
    }
    return Join(session: session, token: token)
  }

  /// Shows a new token of the same user; gives when that expires, in milliseconds since 1970-01-01
  /// UTC, nil for never. Throws ``CallError``: 2401 for one that is refused, 2403 for another user's.
  @discardableResult
  public func renew(_ token: String) async throws(CallError) -> Int64? {
    let expires = try await perform("session.renew", ["token": .string(token)])["expiresAt"]
    options?.token = token
    return expires?.integer
  }

  func prepare(_ options: SessionOptions) throws(CallError) {
    for name in options.methods.keys { try Self.checkMethodName(name) }
    self.options = options
    methods = options.methods
    hosts = BridgeClientHosts(options.hosts)
    ownPage = options.page
  }
}
