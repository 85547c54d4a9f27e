import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

@testable import WaySession

/// The ways of calls, without a session: what a journey says at each step.
struct SessionCallResolutionTests {
  private let router = Router()
  private func guide() -> SessionDestinationResolver {
    SessionDestinationResolver(router, limits: Limits(), ServerHosts(limits: Limits()))
  }

  /// Goes on until somebody is reached or asked, and says where.
  private func go(
    _ uri: String, then events: [Journey.Event] = []
  ) -> String {
    let journey = Journey(.open, uri, SessionCallOptions(rights: .app))
    var said = ""
    for event in [.begun] + events {
      do throws(CallError) {
        switch try journey.next(event, in: guide()) {
        case .judge(let chain, _): said = "judge \(chain.names.joined(separator: ","))"
        case .load: said = "load"
        case .answer(let value): said = "answer \(value.brief)"
        case .arrive(let destination):
          said = destination.isServed ? "at \(destination.uri.text)" : "undefined"
        }
      } catch {
        return "\(error.code) \(error.kind)"
      }
    }
    return said
  }

  @Test func aRouteIsReachedAndAnUnknownOneIsNot() throws {
    try router.task("action://a") { _ in 1 }
    #expect(go("action://a") == "at action://a")
    #expect(go("action://b") == "2404 noRoute")
    #expect(go("no uri") == "-32602 invalidParams")
  }

  @Test func interceptorsAreAskedBeforeWhoServesIt() throws {
    try router.task("action://a") { _ in 1 }
    try router.task("action://b") { _ in 2 }
    router.intercept("gate") { _ in .next }
    let led = InterceptorChain.Verdict.redirect(to: "action://b", params: nil, by: "gate")
    let no = InterceptorChain.Verdict.refused(by: "gate", reason: "closed")
    #expect(go("action://a") == "judge gate")
    #expect(go("action://a", then: [.judged(.pass)]) == "at action://a")
    #expect(go("action://a", then: [.judged(led)]) == "judge gate")
    #expect(go("action://a", then: [.judged(no)]) == "2423 refused")
    #expect(go("action://none") == "2404 noRoute")
  }

  @Test func aRedirectBackAndForthEndsWithItsChain() throws {
    try router.task("action://a") { _ in 1 }
    router.intercept("gate") { _ in .next }
    let again = Journey.Event.judged(
      .redirect(to: "action://a", params: nil, by: "gate"))
    #expect(go("action://a", then: Array(repeating: again, count: 8)) == "judge gate")
    #expect(go("action://a", then: Array(repeating: again, count: 9)) == "2508 redirectLoop")
  }

  @Test func whoDeclinesLeavesItToTheNextThenToTheFallbackThenToTheHandler() throws {
    for (name, pattern) in [("one", "native://a/b"), ("two", "native://a/:x")] {
      let fallback = name == "two" ? try PatternTarget("action://f") : nil
      try router.register(
        Route(
          name: name, patterns: [RoutePattern(pattern)], kind: .page, fallback: fallback,
          handler: .page(PageHandler(open: { _, _ in }, close: { _, _, _ in }))))
    }
    try router.task("action://f") { _ in 1 }
    #expect(go("native://a/b") == "at native://a/b")
    #expect(go("native://a/b", then: [.declined]) == "at native://a/b")
    #expect(go("native://a/b", then: [.declined, .declined]) == "at action://f?x=b")
    #expect(go("native://a/b", then: [.declined, .declined, .declined]) == "2404 declined")
    router.undefinedRoute { _ in .decline }
    #expect(go("native://a/b", then: [.declined, .declined, .declined]) == "undefined")
    #expect(go("native://c") == "undefined")
    #expect(go("native://c", then: [.undefined(.answer(7))]) == "answer 7")
    #expect(go("native://c", then: [.undefined(.decline)]) == "2404 noRoute")
    let led = UndefinedRouteDecision.redirect(uri: "action://f", params: [:])
    #expect(go("native://c", then: [.undefined(led)]) == "at action://f")
  }

  @Test func aModuleIsLoadedOnceAndMustGiveAHandler() throws {
    try router.module(
      "lazy",
      routes: [Route(name: "l", patterns: [RoutePattern("action://l")], kind: .task)]
    ) { _ in }
    #expect(go("action://l") == "load")
    #expect(go("action://l", then: [.loaded]) == "-32603 internal")
  }

  @Test("whatever happens on the way, it ends", arguments: 1...40)
  func everyJourneyEnds(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    for number in 0..<8 {
      let target = "native://r\(Int.random(in: 0..<10, using: &random))/x"
      let fallback = Bool.random(using: &random) ? try PatternTarget(target) : nil
      let handler: RouteHandler =
        Bool.random(using: &random)
        ? .hosted : .page(PageHandler(open: { _, _ in }, close: { _, _, _ in }))
      try router.register(
        Route(
          name: "r\(number)", patterns: [RoutePattern("native://r\(number)/:p")], kind: .page,
          fallback: fallback, handler: handler))
    }
    if Bool.random(using: &random) { router.intercept("gate") { _ in .next } }
    if Bool.random(using: &random) { router.undefinedRoute { _ in .decline } }
    let guide = guide()
    for start in 0..<10 {
      let journey = Journey(.open, "native://r\(start)/1", SessionCallOptions(rights: .app))
      var event = Journey.Event.begun
      var steps = 0
      while steps < 100 {
        steps += 1
        let next = "native://r\(Int.random(in: 0..<10, using: &random))/2"
        do throws(CallError) {
          switch try journey.next(event, in: guide) {
          case .judge:
            let verdicts: [InterceptorChain.Verdict] = [
              .pass, .changed(params: ["a": 1]), .redirect(to: next, params: nil, by: "gate"),
            ]
            event = .judged(verdicts.randomElement(using: &random) ?? .pass)
          case .arrive(let destination) where destination.isServed: event = .declined
          case .arrive: event = .undefined(.redirect(uri: next, params: [:]))
          case .load, .answer: event = .loaded
          }
        } catch {
          break
        }
      }
      #expect(steps < 100, "seed \(seed), start \(start)")
    }
  }
}
