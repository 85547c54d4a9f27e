import Synchronization
import TestSupport
import Testing
import WayRPC
import WayTransport
import WayValues

@testable import WaySession

/// Messages that the server writes to clients, without a session.
struct ClientWriterTests {
  private let channel = RecordingChannel()
  private let writer: ClientWriter
  private let clients: SessionClients
  private let client: Client

  init() throws {
    var limits = Limits()
    limits.maxAnswer = 200
    limits.maxInFlight = 1
    limits.maxClients = 1
    clients = SessionClients(of: "s-1", limits: limits, budget: ByteBudget(.session, 1 << 20))
    writer = ClientWriter(
      limits: limits, clients: clients, ResumableClients(channel.loop, limits: limits))
    client = try clients.makeClient(channel: channel)
    clients.add(client)
  }

  private func makeReplyHandle(_ id: RequestID, isSilent: Bool = false) -> ReplyHandle {
    ReplyHandle(
      client: client, id: id, batch: nil, position: 0, method: 0, isNotification: isSilent)
  }

  @Test func replacesOversizedResponseWithError() throws {
    writer.respond(.value("short"), to: makeReplyHandle(.integer(1)))
    writer.respond(
      .value(.string(String(repeating: "x", count: 300))), to: makeReplyHandle(.integer(2)))
    writer.respond(.value("silent"), to: makeReplyHandle(.null, isSilent: true))
    let sent = try channel.sentMessages()
    #expect(sent.count == 2)
    #expect(sent.first?["result"] == "short")
    #expect(sent.last?["error"]?["code"] == 2413)
  }

  @Test func keepsRequestUntilResponse() throws {
    let id = try writer.request(client, "task.run", [:], for: .run(7))
    let response = Response(id: id, result: .success(1))
    let request = writer.resolve(response, from: client)
    #expect(request?.purpose.call == 7)
    #expect(writer.resolve(response, from: client) == nil)
  }

  @Test func rejectsRequestsToOverloadedClient() throws {
    for _ in 0..<4 { _ = try writer.request(client, "task.run", [:], for: .run(1)) }
    let rejected = #expect(throws: SessionClientRequestFailure.self) {
      try writer.request(client, "task.run", [:], for: .run(1))
    }
    #expect(rejected?.taskError.code == 2429)
    #expect(channel.closeCode == nil)
  }

  @Test func closesClientThatIgnoresServerRequests() throws {
    for _ in 0..<4 + ClientWriter.serverRequestReserve {
      _ = try writer.request(client, "page.close", [:], for: .close)
    }
    #expect(throws: SessionClientRequestFailure.self) {
      try writer.request(client, "page.close", [:], for: .close)
    }
    #expect(channel.closeCode == .slowConsumer)
  }

  @Test func endedCallCountsUntilResponse() throws {
    let id = try writer.request(client, "task.run", [:], for: .run(1))
    writer.retainSlot(id, client, client)
    #expect(throws: CallError.self) { try client.calls.check(.integer(2)) }
    _ = writer.resolve(Response(id: id, result: .success(nil)), from: client)
    try client.calls.check(.integer(2))
  }

  @Test func limitsBytesPerSession() throws {
    var charge: ByteBudget.Charge? = try client.charge(1 << 20)
    let rejected = #expect(throws: CallError.self) { try client.charge(1) }
    #expect(rejected?.code == 2429)
    #expect(clients.budget.used == 1 << 20)
    withExtendedLifetime(charge) {}
    charge = nil
    #expect(clients.budget.used == 0)
  }

  @Test func cancelsAbandonedRequestAndDropsResponse() throws {
    let id = try writer.request(client, "page.close", [:], for: .close)
    #expect(writer.expire(id, client)?.method == "page.close")
    #expect(try channel.sentMessages().last?["method"] == "$/cancelRequest")
    #expect(writer.resolve(Response(id: id, result: .success(nil)), from: client) == nil)
    #expect(writer.expire(id, client) == nil)
  }

  @Test func limitsClientsPerSession() {
    #expect(throws: CallError.self) { try clients.makeClient(channel: channel) }
    #expect(clients.named(client.name) === client)
    #expect(clients.remove(client.id) === client)
    #expect(clients.isEmpty)
    #expect(clients.sender(client.id) == nil)
  }
}

/// A channel that records the messages sent.
private final class RecordingChannel: MessageChannel {
  let id = UInt64.max
  let loop: any EventLoop = MemoryLoop()
  let bufferedBytes = 0
  func pause() {}
  func resume() {}
  private let state = Mutex<(texts: [[UInt8]], closed: CloseCode?)>(([], nil))

  var closeCode: CloseCode? { state.withLock { $0.closed } }

  func sentMessages() throws -> [Value] {
    try state.withLock { $0.texts }.map { try JSON.parse($0.span.bytes) }
  }

  func attach(_ receiver: any MessageReceiver) {}

  func send(_ message: RawSpan, as kind: MessageKind) {
    let bytes = message.withUnsafeBytes { [UInt8]($0) }
    state.withLock { $0.texts.append(bytes) }
  }

  func close(_ code: CloseCode, _ reason: String) {
    state.withLock { $0.closed = code }
  }
}
