import WayRouting
import WayTransport
import WayValues

/// Sends a request to a client of a session, which hosts a call of a session on another server.
/// Reports the progress of the call, and returns its result (`Result.peerValue`).
struct HostRequestOperation: PeerOperation, Codable {
  static let method = "peer.run"
  /// The maximum duration of a call that has no deadline of its own.
  private static let maxDuration: Duration = .seconds(86_400)

  let session: String
  let client: String
  /// The method of the request, such as `task.run`.
  let hostMethod: String
  let params: Value
  let caller: PeerCaller
  /// The session of the call, whose blobs the client may fetch; nil from a server of an earlier version.
  let callSession: String?

  var timeout: Duration { Self.maxDuration }

  func run(in context: PeerContext) async throws(CallError) -> Value {
    guard let loopSessions = context.server.loopSessions(ofSession: session) else {
      throw CallError(.hostAbsent, "The host is gone")
    }
    let loan = callSession.flatMap { callSession in
      context.server.configuration.blobs?.grants.lend(params, of: callSession, to: client)
    }
    defer { withExtendedLifetime(loan) {} }
    return await loopSessions.run(
      hostMethod, params, at: client, of: session, for: caller, context.report)
  }
}

/// Returns the hosts that clients of a server have registered for all sessions.
struct HostsQuery: PeerOperation, Codable {
  struct PeerHosts: Codable {
    let generation: Int64
    let hosts: [PeerHost]
  }

  /// The hosts of one client.
  struct PeerHost: Codable {
    let session: String
    let client: String
    let isAway: Bool
    /// The entries of `host.register`.
    let hosts: [Value]
  }

  static let method = "peer.hosts"

  func run(in context: PeerContext) -> PeerHosts {
    let (generation, hosts) = context.server.serverHosts.localHosts
    return PeerHosts(
      generation: Int64(generation),
      hosts: hosts.compactMap { host in
        guard let session = host.home.requester as? Session else { return nil }
        return PeerHost(
          session: session.id, client: host.client, isAway: host.isAway,
          hosts: host.definitions.map(\.value))
      })
  }
}

extension SessionDispatch {
  /// Sends a request to a client of another server, which hosts a call. Returns its result. Fails as
  /// ``ClusterNode/request(_:_:_:within:progress:)``.
  func request(
    _ method: String, _ params: Value, at host: RemoteHost, for caller: PeerCaller,
    of session: String, progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Result<Value, SessionClientRequestFailure> {
    let operation = HostRequestOperation(
      session: host.session, client: host.client, hostMethod: method, params: params,
      caller: caller, callSession: session)
    return Result(peerValue: try await send(operation, to: host.server, progress: progress))
  }
}
