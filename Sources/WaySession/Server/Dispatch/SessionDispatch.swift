import WayRouting
import WayTransport
import WayValues

/// Runs operations where the sessions are: at this server, and by requests to the other servers of the
/// cluster. Usable from any thread.
package struct SessionDispatch: Sendable {
  package let sessionServer: SessionServer
  var cluster: ClusterNode? { sessionServer.cluster }

  /// The timeout of requests that another server handles at once.
  static let requestTimeout: Duration = .seconds(10)

  /// The location of sessions.
  enum DispatchTarget {
    case local
    case server(String)
  }

  package init(_ sessionServer: SessionServer) { self.sessionServer = sessionServer }

  /// Returns the location of the one session in an audience; `nil` for sessions of all servers. Fails
  /// with 2503 if the location cannot be found out.
  func location(of audience: Audience) async throws(CallError) -> DispatchTarget? {
    if let session = audience.session { return try await location(of: session) }
    guard let cluster else { return .local }
    if let reason = cluster.rejectionReason {
      throw CallError(
        .unavailable, "The sessions of other servers cannot be found: \(reason.text)")
    }
    return nil
  }

  /// Returns the location of a session; ``DispatchTarget/local`` if it does not exist. Fails with
  /// 2503 if the location cannot be found out.
  func location(of session: String) async throws(CallError) -> DispatchTarget {
    guard let cluster, let loop = sessionServer.sessionsByLoop.first?.loop,
      sessionServer.loopSessions(ofSession: session) == nil
    else { return .local }
    switch await cluster.finder.find(session, for: loop) {
    case .local, .notFound: return .local
    case .server(let server): return .server(server)
    case .unknown(let reason):
      throw CallError(.unavailable, "The session \(session.quoted) cannot be reached: \(reason)")
    }
  }

  /// Runs an operation at this server.
  func run<Operation: PeerOperation>(
    _ operation: Operation
  ) async throws(CallError) -> Operation.OperationResult {
    try await operation.run(in: PeerContext(dispatch: self) { _ in })
  }

  /// Runs an operation at the server that has a session.
  func send<Operation: PeerOperation>(
    _ operation: Operation, toServerOf session: String
  ) async throws(CallError) -> Operation.OperationResult {
    switch try await location(of: session) {
    case .local: try await run(operation)
    case .server(let server): try await send(operation, to: server)
    }
  }

  /// Runs an operation at the servers that have the sessions of an audience, at once, and returns the
  /// response of each. Fails if it fails at this server, or at the server of the one session.
  func send<Operation: PeerOperation>(
    _ operation: Operation, toServersOf audience: Audience
  ) async throws(CallError) -> [PeerResponse<Operation.OperationResult>] {
    switch try await location(of: audience) {
    case .local:
      return [PeerResponse(server: localName, result: .success(try await run(operation)))]
    case .server(let server):
      let result = try await send(operation, to: server)
      return [PeerResponse(server: server, result: .success(result))]
    case nil:
      let params = try operation.makeParams()
      async let others = sendToOthers(operation, params)
      let own = PeerResponse(server: localName, result: .success(try await run(operation)))
      return await [own] + others
    }
  }

  /// The name of this server; empty without a cluster.
  private var localName: String { cluster?.server ?? "" }

  /// Runs an operation at one other server. Fails as ``ClusterNode/request(_:_:_:within:progress:)``.
  func send<Operation: PeerOperation>(
    _ operation: Operation, to server: String,
    progress: (@Sendable (Value) -> Void)? = nil
  ) async throws(CallError) -> Operation.OperationResult {
    guard let cluster else { throw CallError(.unavailable, "This server is not part of a cluster") }
    let value = try await cluster.request(
      server, Operation.method, RecordCoder.value(of: try operation.makeParams()),
      within: operation.timeout, progress: progress)
    return try Self.result(of: operation, value)
  }

  /// Runs an operation at all other servers at once, and returns the response of each.
  func sendToOthers<Operation: PeerOperation>(
    _ operation: Operation, _ params: Operation.OperationParams
  ) async -> [PeerResponse<Operation.OperationResult>] {
    guard let cluster else { return [] }
    let responses = await cluster.requestOthers(
      Operation.method, RecordCoder.value(of: params), within: operation.timeout)
    return responses.map { response in
      response.flatMap { value throws(CallError) in try Self.result(of: operation, value) }
    }
  }

  /// Runs an operation at all other servers at once, and returns the response of each.
  @discardableResult
  func sendToOthers<Operation: PeerOperation & Codable>(
    _ operation: Operation
  ) async -> [PeerResponse<Operation.OperationResult>]
  where Operation.OperationParams == Operation {
    await sendToOthers(operation, operation)
  }

  private static func result<Operation: PeerOperation>(
    of operation: Operation, _ value: Value
  ) throws(CallError) -> Operation.OperationResult {
    do { return try RecordCoder.decode(from: value, "the result of \(Operation.method)") } catch {
      throw CallError(.internal, "The response of the other server cannot be read: \(error)")
    }
  }
}

extension SessionDispatch: SessionOperations {
  /// Creates the sessions of one more loop of the server, which does not retain them.
  package func makeLoopSessions(on loop: any EventLoop) -> LoopSessions {
    LoopSessions(loop: loop, in: sessionServer, operations: self)
  }
}

extension SessionServer {
  /// Runs operations in the sessions of all servers of the cluster; only here if there is no
  /// cluster.
  package var dispatch: SessionDispatch { SessionDispatch(self) }
}
