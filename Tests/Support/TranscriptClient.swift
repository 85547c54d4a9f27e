import WayTransport
import WayValues

/// A client in a replayed transcript.
package protocol TranscriptClient: Sendable {
  /// Whether messages arrive in wire order. If the client's interface does not preserve that order,
  /// each expected message only has to be among the received ones.
  var isOrdered: Bool { get }
  func send(_ message: Value) async throws
  func send(_ bytes: [UInt8], as kind: MessageKind) async throws
  func next() async throws -> ConnectionEvent
  func close(_ code: UInt16) async throws
}

extension RawClient: TranscriptClient {
  package var isOrdered: Bool { true }
}

/// Creates a client from its name and its description in the transcript.
package typealias TranscriptClientFactory =
  @Sendable (_ name: String, _ options: Value) async throws
  -> any TranscriptClient
