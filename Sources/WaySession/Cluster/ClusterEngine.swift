import WayTransport

/// What servers share that serve one cluster: who is there, whose each session is, messages among
/// them, and documents. All methods may be called from any thread.
package protocol ClusterEngine: Sendable {
  /// The sessions of all servers.
  var store: any SharedSessionStore { get }
  /// For how long this server is sure that nobody has taken its sessions.
  var tenure: Tenure { get }
  /// Bytes of one message, at most.
  var maxMessage: Int { get }

  /// This server is there from now on, and renews its lease again and again, until ``leave()``; tells
  /// `handlers`. Throws where the engine cannot be used.
  func join(as server: String, _ handlers: ClusterHandlers) async throws
  /// It is there again, after it was lost.
  func rejoin() async throws
  /// It is not there any more, so that nobody need wait for it.
  func leave() async

  /// Why the engine cannot be used; nil where it has answered last.
  var failure: String? { get }
  /// How often this server has told that it is there, so that others can tell whether it still does.
  var renewal: UInt64 { get }
  /// Another server was heard of, with its ``renewal``.
  func heard(_ server: String, renewal: UInt64)
  /// Whether another server is gone for certain: it has said so, or was silent for longer than its
  /// tenure, and has been declared gone by this one or another. Takes some seconds of asking to
  /// become true.
  func isGone(_ server: String) async throws -> Bool
  /// Whose a session is.
  func owner(of session: String) async throws -> Ownership

  /// Sends to one server, or to all that listen, this one among them. Never waits; what is sent may
  /// get lost.
  func send(_ message: [UInt8], to server: String?)

  /// A document that all servers share, with its revision; nil where there is none.
  func document(_ name: String) async throws -> (bytes: [UInt8], revision: UInt64)?
  /// Writes a document after the revision that is known, 0 for none, and gives its new one. Nil where
  /// it has another.
  func put(_ bytes: [UInt8], as name: String, after revision: UInt64) async throws -> UInt64?
}

extension ClusterEngine {
  /// Whether the engine has answered last.
  package var isReached: Bool { failure == nil }
}

/// What an engine tells, on any thread.
package struct ClusterHandlers: Sendable {
  /// The lease was renewed: the others are to hear of it, so that they need not doubt.
  package let renewed: @Sendable () -> Void
  /// Another server has found this one gone.
  package let lost: @Sendable () -> Void
  /// A message for this server: those of one other come in the order in which it has sent them.
  package let received: @Sendable ([UInt8]) -> Void
  /// Messages may have gone missing.
  package let cutOff: @Sendable () -> Void
  /// Some of what was kept of this server's sessions is gone: all of them are to be kept anew.
  package let bereft: @Sendable () -> Void
}

/// Whose a session is.
package enum Ownership: Sendable, Equatable {
  /// A server's, which may be gone.
  case server(String)
  /// Nobody's: who wants it takes it over.
  case nobody
  /// There is no such session.
  case absent
}

/// Several servers that serve the same sessions. WaybridgeCluster makes one of NATS.
public struct Cluster: Sendable {
  package let engine: any ClusterEngine

  package init(_ engine: any ClusterEngine) {
    self.engine = engine
  }
}
