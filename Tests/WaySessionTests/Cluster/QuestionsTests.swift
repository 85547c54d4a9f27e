import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

@Suite(.timeLimit(.minutes(1)))
struct QuestionsTests {
  private let questions: SessionPeerRequests
  private let sent: AsyncStream<String>
  private let loop = MemoryLoop()

  init() {
    let (sent, told) = AsyncStream<String>.makeStream()
    self.sent = sent
    questions = SessionPeerRequests { message, server in told.yield("\(server): \(message)") }
  }

  private func next() async -> String {
    var iterator = sent.makeAsyncIterator()
    return await iterator.next() ?? ""
  }

  private func error(_ work: () async throws(CallError) -> Value) async -> CallError? {
    do throws(CallError) {
      _ = try await work()
      return nil
    } catch {
      return error
    }
  }

  @Test func whatIsAskedIsAnsweredByWhoWasAskedAlone() async throws {
    async let answer = questions.ask("b", ["ask": "hosts"], within: .seconds(10), on: loop)
    #expect(await next() == "b: \(ClusterMessage.question(1, ["ask": "hosts"]))")
    questions.heard(answer: ["result": 1], of: 1, from: "c")
    questions.heard(answer: ["result": 2], of: 1, from: "b")
    #expect(try await answer == 2)
  }

  @Test func whoIsLostHasNoAnswer() async {
    async let error = error { () throws(CallError) in
      try await questions.ask("b", .null, within: .seconds(10), on: loop)
    }
    _ = await next()
    questions.drop("c")
    questions.drop("b")
    #expect(await error?.code == 2599)
  }

  @Test func whoTakesTooLongIsToldThatNobodyWaits() async {
    async let error = error { () throws(CallError) in
      try await questions.ask("b", .null, within: .seconds(10), on: loop)
    }
    _ = await next()
    await loop.advance(by: .seconds(10))
    #expect(await error?.code == 2408)
    #expect(await next() == "b: \(ClusterMessage.cancel(1))")
  }

  @Test func oneServerThatAsksTooMuchIsInNobodysWay() async {
    for id in 1...10_000 {
      questions.take(UInt64(id), from: "b") { _ throws(CallError) in
        try? await Task.sleep(for: .seconds(3600))
        return .null
      }
    }
    questions.take(10_001, from: "b") { _ throws(CallError) in 1 }
    let refusal = CallError(.tooMany, "The server has too many questions to answer")
    #expect(await next() == "b: \(ClusterMessage.answer(10_001, ["error": refusal.value]))")
    questions.take(1, from: "c") { _ throws(CallError) in 1 }
    #expect(await next() == "c: \(ClusterMessage.answer(1, ["result": 1]))")
    questions.cancel(7, from: "b")
    questions.take(10_002, from: "b") { _ throws(CallError) in 2 }
    #expect(await next() == "b: \(ClusterMessage.answer(10_002, ["result": 2]))")
    questions.drop("b")
  }
}
