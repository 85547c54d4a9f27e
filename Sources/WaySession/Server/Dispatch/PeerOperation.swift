import WayTransport
import WayValues

/// An operation that a server runs in its own sessions, for itself or for another server. In the
/// JSON-RPC between servers it is a method.
///
/// A new one is a type in this folder and its place in ``PeerMethods``.
protocol PeerOperation: Sendable {
  /// The params of the method.
  associatedtype OperationParams: Codable, Sendable
  associatedtype OperationResult: Codable, Sendable

  /// The name of the method, such as `peer.push`.
  static var method: String { get }
  /// The time within which another server has to respond.
  var timeout: Duration { get }
  /// Returns the params for another server. Fails if only this server can run the operation.
  func makeParams() throws(CallError) -> OperationParams
  /// Creates the operation that another server has requested. Fails with -32602.
  init(_ params: OperationParams, in context: PeerContext) throws(CallError)
  func run(in context: PeerContext) async throws(CallError) -> OperationResult
}

extension PeerOperation {
  var timeout: Duration { SessionDispatch.requestTimeout }
}

extension PeerOperation where Self: Codable, OperationParams == Self {
  func makeParams() -> Self { self }
  init(_ params: Self, in context: PeerContext) { self = params }
}

/// The parts of a server that a ``PeerOperation`` uses.
struct PeerContext: Sendable {
  let dispatch: SessionDispatch
  /// Reports progress to the server that has requested the operation.
  let report: @Sendable (Value) -> Void

  var server: SessionServer { dispatch.sessionServer }
}
