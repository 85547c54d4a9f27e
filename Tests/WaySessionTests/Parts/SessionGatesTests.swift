import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

@testable import WaySession

/// The gates of a session without a session: what calls at them get, and in which order.
struct SessionGatesTests {
  private let first: Gate
  private let second: Gate

  init() throws {
    first = Gate("first", on: [.all()], opens: try RouteURI("native://first"))
    second = Gate("second", on: [.all()], opens: try RouteURI("native://second"))
  }

  /// A short text for each effect.
  private func texts(_ effects: [SessionGates.GateEffect]) -> [String] {
    effects.map { effect in
      switch effect {
      case .recordChange: "record"
      case .report(let gate, let isOpen): "\(gate) \(isOpen ? "opened" : "closed")"
      case .ask(let gate, let uri): "ask \(gate.name) for \(uri)"
      case .cancel(let call): "cancel \(call)"
      case .proceed(let call, let gates):
        "proceed \(call) of \(gates.map(\.name).joined(separator: "+"))"
      case .refuse(let call, let error): "refuse \(call): \(error.data?["reason"]?.string ?? "")"
      case .openLinks(let gate): "links of \(gate)"
      case .refuseLinks(let gate, _): "no links of \(gate)"
      }
    }
  }

  @Test func opensPageOnceAndContinuesCallsInOrder() {
    var gates = SessionGates()
    #expect(texts(gates.wait(1, of: "a://1", at: first, gates: [first])) == ["ask first for a://1"])
    #expect(gates.wait(2, of: "a://2", at: first, gates: [first, second]).isEmpty)
    #expect(gates.ask(first, for: "a://link").isEmpty)
    #expect([gates.callBegan(9, at: "first")] == [true])
    #expect([gates.callBegan(10, at: "first")] == [false], "one call is enough")
    #expect(texts(gates.pageShown("p1", at: "first")) == ["record"])
    #expect(
      texts(gates.callEnded(9, at: "first", .success(.finished()))) == [
        "record", "first opened", "proceed 1 of first", "proceed 2 of first+second",
        "links of first",
      ])
    #expect(gates.firstClosed(of: [first, second])?.name == "second")
    #expect(gates.record.open == ["first"] && gates.record.pages.isEmpty)
  }

  @Test(arguments: [
    (Result<Outcome, CallError>.success(Outcome(kind: .dismissed)), "native://first was dismissed"),
    (.success(Outcome(kind: .failed, code: 2504)), "native://first failed"),
    (.success(.finished(code: 3, message: "no")), "native://first finished with the code 3: no"),
    (.failure(CallError(.hostAbsent, "nobody shows it")), "nobody shows it"),
  ])
  func refusesAllCallsForOneReason(_ result: Result<Outcome, CallError>, reason: String) {
    var gates = SessionGates()
    for call in 1...2 { _ = gates.wait(call, of: "a://1", at: first, gates: [first]) }
    _ = gates.callBegan(9, at: "first")
    #expect(
      texts(gates.callEnded(9, at: "first", result)) == [
        "refuse 1: \(reason)", "refuse 2: \(reason)", "no links of first",
      ])
    #expect(gates.areAllClosed)
    #expect(texts(gates.wait(3, of: "a://3", at: first, gates: [first])) == ["ask first for a://3"])
  }

  @Test func checksResultAgainstSchema() throws {
    let schema = ValueSchema(
      .object, properties: [.init("name", ValueSchema(.string), isRequired: true)])
    let gate = Gate(
      "first", on: [.all()], opens: try RouteURI("native://first"), passes: schema)
    #expect(gate.refusal(for: .finished(data: ["name": "Ada"])) == nil)
    #expect(gate.refusal(for: .finished(data: ["name": 1]))?.contains("name") == true)
    #expect(gate.refusal(for: .finished())?.contains("data") == true)
  }

  @Test func openingOtherwiseCancelsThePage() {
    var gates = SessionGates()
    _ = gates.wait(1, of: "a://1", at: first, gates: [first])
    #expect([gates.callBegan(9, at: "first")] == [true])
    #expect(gates.set("first", isOpen: false).isEmpty)
    #expect(
      texts(gates.set("first", isOpen: true)) == [
        "record", "first opened", "proceed 1 of first", "links of first", "cancel 9",
      ])
    #expect(gates.callEnded(9, at: "first", .success(Outcome(kind: .cancelled))).isEmpty)
    #expect(gates.set("first", isOpen: true).isEmpty)
    #expect(texts(gates.set("first", isOpen: false)) == ["record", "first closed"])
    #expect(gates.set("first", isOpen: false).isEmpty)
    #expect([gates.callBegan(11, at: "first")] == [false], "nothing waits")
  }

  @Test func restoresOpenGatesAndShownPages() {
    var gates = SessionGates()
    gates.restore(open: "second")
    gates.restore(first, page: "p1", call: 4)
    #expect(gates.record.open == ["second"] && gates.record.pages == ["first": "p1"])
    #expect(gates.wait(5, of: "a://5", at: first, gates: [first]).isEmpty)
    #expect(
      texts(gates.callEnded(4, at: "first", .success(.finished()))).contains("proceed 5 of first"))
  }

  /// Random calls, pages, cancellations and settings: each call ends once, calls at a gate continue in
  /// their order, and no gate has two pages.
  @Test(arguments: 0..<40) func randomEvents(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var gates = SessionGates()
    let all = [first, second]
    /// The calls that wait, by gate, in their order; and the call of the page of each gate.
    var waiting: [String: [(call: Int, gates: [Gate])]] = [:]
    var asked: [String: Int] = [:]
    var ended: Set<Int> = []
    var number = 0

    func begin(_ call: Int, _ needed: [Gate]) {
      guard let gate = gates.firstClosed(of: needed) else { return end(call) }
      waiting[gate.name, default: []].append((call, needed))
      perform(gates.wait(call, of: "a://\(call)", at: gate, gates: needed))
    }
    func end(_ call: Int) {
      #expect(ended.insert(call).inserted, "seed \(seed): \(call) ends twice")
    }
    func leave(_ call: Int) -> [Gate]? {
      for (gate, calls) in waiting {
        guard let index = calls.firstIndex(where: { $0.call == call }) else { continue }
        #expect(index == 0, "seed \(seed): \(call) overtakes")
        return waiting[gate]?.remove(at: index).gates
      }
      Issue.record("seed \(seed): \(call) does not wait")
      return nil
    }
    func perform(_ effects: [SessionGates.GateEffect]) {
      for effect in effects {
        switch effect {
        case .ask(let gate, _):
          #expect(asked[gate.name] == nil, "seed \(seed): two pages of \(gate.name)")
          number += 1
          asked[gate.name] = number
          #expect([gates.callBegan(number, at: gate.name)] == [true])
        case .cancel(let call):
          #expect(asked.contains { $0.value == call })
          asked = asked.filter { $0.value != call }
        case .proceed(let call, _): if let needed = leave(call) { begin(call, needed) }
        case .refuse(let call, _): if leave(call) != nil { end(call) }
        case .recordChange, .report, .openLinks, .refuseLinks: break
        }
      }
    }

    for _ in 0..<200 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...3:
        number += 1
        begin(number, Array(all[..<Int.random(in: 1...2, using: &random)]))
      case 4:
        guard let (gate, call) = asked.randomElement(using: &random) else { continue }
        asked[gate] = nil
        let outcome = Outcome(kind: Bool.random(using: &random) ? .finished : .dismissed)
        perform(gates.callEnded(call, at: gate, .success(outcome)))
      case 5:
        guard let gate = waiting.keys.sorted().randomElement(using: &random),
          let index = waiting[gate]?.indices.randomElement(using: &random),
          let call = waiting[gate]?.remove(at: index).call
        else { continue }
        gates.remove(call, from: gate)
        end(call)
      case 6:
        perform(
          gates.set(
            all.randomElement(using: &random)?.name ?? "", isOpen: Bool.random(using: &random)))
      default: perform(gates.ask(second, for: "a://link"))
      }
    }
    for gate in all { perform(gates.set(gate.name, isOpen: true)) }
    for gate in all { perform(gates.set(gate.name, isOpen: true)) }
    #expect(waiting.values.filter { !$0.isEmpty }.isEmpty, "seed \(seed): calls wait at open gates")
  }
}
