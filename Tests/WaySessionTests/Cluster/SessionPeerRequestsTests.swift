import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

@Suite(.timeLimit(.minutes(1)))
struct SessionPeerRequestsTests {
  private let requests: SessionPeerRequests
  private let sentMessages: AsyncStream<String>
  private let loop = MemoryLoop()

  init() {
    let (sent, sentContinuation) = AsyncStream<String>.makeStream()
    self.sentMessages = sent
    requests = SessionPeerRequests { message, server in
      sentContinuation.yield("\(server): \(message)")
    }
  }

  private func nextSentMessage() async -> String {
    var iterator = sentMessages.makeAsyncIterator()
    return await iterator.next() ?? ""
  }

  private func thrownError(_ work: () async throws(CallError) -> Value) async -> CallError? {
    do throws(CallError) {
      _ = try await work()
      return nil
    } catch {
      return error
    }
  }

  @Test func ignoresResponsesOfOtherServers() async throws {
    async let response = requests.request("b", "peer.hosts", [:], within: .seconds(10), on: loop)
    #expect(
      await nextSentMessage()
        == "b: \(SessionClusterMessage.request(1, method: "peer.hosts", params: [:]))")
    requests.receive(response: .success(1), of: 1, from: "c")
    requests.receive(response: .success(2), of: 1, from: "b")
    #expect(try await response == 2)
  }

  @Test func failsRequestsToLostServer() async {
    async let error = thrownError { () throws(CallError) in
      try await requests.request("b", "peer.hosts", [:], within: .seconds(10), on: loop)
    }
    _ = await nextSentMessage()
    requests.drop("c")
    requests.drop("b")
    #expect(await error?.code == 2599)
  }

  @Test func cancelsRequestAfterTimeout() async {
    async let error = thrownError { () throws(CallError) in
      try await requests.request("b", "peer.hosts", [:], within: .seconds(10), on: loop)
    }
    _ = await nextSentMessage()
    await loop.advance(by: .seconds(10))
    #expect(await error?.code == 2408)
    #expect(await nextSentMessage() == "b: \(SessionClusterMessage.cancel(1))")
  }

  @Test func limitsConcurrentRequestsPerServer() async {
    for id in 1...10_000 {
      requests.handle(Int64(id), from: "b") { _ throws(CallError) in
        try? await Task.sleep(for: .seconds(3600))
        return .null
      }
    }
    requests.handle(10_001, from: "b") { _ throws(CallError) in 1 }
    let rejection = CallError(
      .tooMany, "The server has too many unanswered requests of other servers")
    #expect(
      await nextSentMessage()
        == "b: \(SessionClusterMessage.response(10_001, .failure(rejection)))"
    )
    requests.handle(1, from: "c") { _ throws(CallError) in 1 }
    #expect(await nextSentMessage() == "c: \(SessionClusterMessage.response(1, .success(1)))")
    requests.cancel(7, from: "b")
    requests.handle(10_002, from: "b") { _ throws(CallError) in 2 }
    #expect(
      await nextSentMessage() == "b: \(SessionClusterMessage.response(10_002, .success(2)))")
    requests.drop("b")
  }
}
