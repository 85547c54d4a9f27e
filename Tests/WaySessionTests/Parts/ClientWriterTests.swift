import Synchronization
import TestSupport
import Testing
import WayRPC
import WayTransport
import WayValues

@testable import WaySession

/// What is written to clients, without a session.
struct ClientWriterTests {
  private let channel = RecordingChannel()
  private let mail: ClientWriter
  private let members: SessionClients
  private let client: Client

  init() throws {
    var limits = Limits()
    limits.maxAnswer = 200
    limits.maxInFlight = 1
    limits.maxClients = 1
    members = SessionClients(of: "s-1", limits: limits, budget: ByteBudget(.session, 1 << 20))
    mail = ClientWriter(
      limits: limits, members: members, ResumableClients(channel.loop, limits: limits))
    client = try members.makeClient(channel: channel)
    members.add(client)
  }

  private func address(_ id: RequestID, isSilent: Bool = false) -> ReplyHandle {
    ReplyHandle(
      client: client, id: id, batch: nil, position: 0, method: 0, isSilent: isSilent)
  }

  @Test func anAnswerThatIsTooLargeBecomesAnError() throws {
    mail.answer(.value("short"), to: address(.integer(1)))
    mail.answer(.value(.string(String(repeating: "x", count: 300))), to: address(.integer(2)))
    mail.answer(.value("silent"), to: address(.null, isSilent: true))
    let sent = try channel.sent()
    #expect(sent.count == 2)
    #expect(sent.first?["result"] == "short")
    #expect(sent.last?["error"]?["code"] == 2413)
  }

  @Test func aRequestIsKeptUntilItIsAnswered() throws {
    let id = try mail.request(client, "task.run", [:], for: .run(7))
    let response = Response(id: id, result: .success(1))
    let request = mail.take(response, from: client)
    #expect(request?.purpose.call == 7)
    #expect(mail.take(response, from: client) == nil)
  }

  @Test func whoAsksAClientThatOwesTooManyAnswersIsRefused() throws {
    for _ in 0..<4 { _ = try mail.request(client, "task.run", [:], for: .run(1)) }
    let refused = #expect(throws: RequestFailure.self) {
      try mail.request(client, "task.run", [:], for: .run(1))
    }
    #expect(refused?.ofTask.code == 2429)
    #expect(channel.closed == nil)
  }

  @Test func aClientThatAnswersNothingOfTheServersOwnIsClosed() throws {
    for _ in 0..<4 + ClientWriter.reserve {
      _ = try mail.request(client, "page.close", [:], for: .close)
    }
    #expect(throws: RequestFailure.self) {
      try mail.request(client, "page.close", [:], for: .close)
    }
    #expect(channel.closed == .slowConsumer)
  }

  @Test func aCallThatIsOverCountsUntilItIsAnswered() throws {
    let id = try mail.request(client, "task.run", [:], for: .run(1))
    mail.owe(id, client, client)
    #expect(throws: CallError.self) { try client.check(.integer(2)) }
    _ = mail.take(Response(id: id, result: .success(nil)), from: client)
    try client.check(.integer(2))
  }

  @Test func idsParamsAndPatternsHaveABudget() throws {
    var charge: ByteBudget.Charge? = try client.charge(1 << 20)
    let refused = #expect(throws: CallError.self) { try client.charge(1) }
    #expect(refused?.code == 2429)
    #expect(members.budget.used == 1 << 20)
    withExtendedLifetime(charge) {}
    charge = nil
    #expect(members.budget.used == 0)
  }

  @Test func whatIsGivenUpIsCancelledAndItsAnswerIsDropped() throws {
    let id = try mail.request(client, "page.close", [:], for: .close)
    #expect(mail.giveUp(id, client)?.method == "page.close")
    #expect(try channel.sent().last?["method"] == "$/cancelRequest")
    #expect(mail.take(Response(id: id, result: .success(nil)), from: client) == nil)
    #expect(mail.giveUp(id, client) == nil)
  }

  @Test func aSessionHoldsSoManyMembersAndNoMore() {
    #expect(throws: CallError.self) { try members.makeClient(channel: channel) }
    #expect(members.named(client.name) === client)
    #expect(members.remove(client.id) === client)
    #expect(members.isEmpty)
    #expect(members.sender(client.id) == nil)
  }
}

/// A channel that keeps what is sent.
private final class RecordingChannel: MessageChannel {
  let id = UInt64.max
  let loop: any EventLoop = MemoryLoop()
  let bufferedBytes = 0
  func pause() {}
  func resume() {}
  private let state = Mutex<(texts: [[UInt8]], closed: CloseCode?)>(([], nil))

  var closed: CloseCode? { state.withLock { $0.closed } }

  func sent() throws -> [Value] {
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
