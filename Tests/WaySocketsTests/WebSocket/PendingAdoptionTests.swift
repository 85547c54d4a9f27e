import Testing
import WayTransport

@testable import WaySockets

struct PendingAdoptionTests {
  /// The limits of an endpoint, and the ones that its connections have at a server that allows
  /// queues of 5,000 bytes.
  @Test(
    arguments: [
      (message: 10, beforeAdmission: nil, buffered: nil, expectedBuffered: 5_000),
      (message: 10, beforeAdmission: 4, buffered: 70, expectedBuffered: 70),
      (message: 1 << 30, beforeAdmission: 1 << 29, buffered: 9_000, expectedBuffered: 9_000),
    ] as [(message: Int, beforeAdmission: Int?, buffered: Int?, expectedBuffered: Int)])
  func newConnectionHasLimitsOfEndpoint(
    limits: (message: Int, beforeAdmission: Int?, buffered: Int?, expectedBuffered: Int)
  ) throws {
    var configuration = SocketServerConfiguration()
    configuration.limits.maxQueueBytes = 5_000
    configuration.connection.highWater = 77
    let endpoint = Endpoint(
      path: "/echo", subprotocols: [], maxMessage: limits.message,
      maxMessageBeforeAdmission: limits.beforeAdmission, maxBuffered: limits.buffered,
      acceptor: RecordingAcceptor())
    let adoption = PendingAdoption(try upgrade(to: endpoint), id: 3, configuration)
    #expect(adoption.id == 3)
    #expect(adoption.transferState == nil)
    #expect(adoption.limits.maximumMessage == limits.message)
    #expect(adoption.limits.maximumMessageBeforeAdmission == limits.beforeAdmission)
    #expect(adoption.limits.maximumBuffered == limits.expectedBuffered)
    #expect(adoption.limits.highWater == 77)
  }

  @Test func movedConnectionKeepsItsIDAndLimits() {
    var limits = ConnectionLimits()
    limits.maximumBuffered = 70
    let adoption = PendingAdoption(
      SocketConnection.TransferState(
        id: 5, limits: limits, frameReader: FrameReader(), isAdmitted: true, message: [],
        isMessageOpen: false, unread: [1, 2])
    ) { _ in }
    #expect(adoption.id == 5)
    #expect(adoption.limits.maximumBuffered == 70)
    #expect(adoption.transferState?.unread == [1, 2])
  }

  private func upgrade(to endpoint: Endpoint) throws -> WebSocketUpgrade {
    let text =
      "GET /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    let head = try RequestHead(parsing: Array(text.utf8)[...])
    return try WebSocketUpgrade(head, path: head.path, endpoints: [endpoint])
  }
}
