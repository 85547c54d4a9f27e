import WayTransport
import WayValues

/// What plays one client of a transcript.
package protocol TranscriptClient: Sendable {
  /// Whether messages come in the order of the wire. Of a party that reads them through an
  /// interface which does not keep it, each expected message has only to be among those that come.
  var isOrdered: Bool { get }
  func send(_ message: Value) async throws
  func send(_ bytes: [UInt8], as kind: MessageKind) async throws
  func next() async throws -> PeerEvent
  func close(_ code: UInt16) async throws
}

extension Peer: TranscriptClient {
  package var isOrdered: Bool { true }
}

/// Makes what plays a client, by its name and its description in the transcript.
package typealias TranscriptClientFactory =
  @Sendable (_ name: String, _ options: Value) async throws
  -> any TranscriptClient
