import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The resolution of calls without a session: the result of each step.
struct SessionCallResolutionTests {
  private let router = Router()
  private func makeResolver() -> SessionDestinationResolver {
    SessionDestinationResolver(router, limits: Limits(), ServerHosts(limits: Limits()))
  }

  /// Resolves until the call reaches a destination or an interceptor, and returns a summary of the
  /// last step.
  private func resolve(
    _ uri: String, then events: [SessionCallResolution.ResolutionEvent] = []
  ) -> String {
    let resolution = SessionCallResolution(.open, uri, SessionCallOptions(rights: .app))
    var result = ""
    for event in [.started] + events {
      do throws(CallError) {
        switch try resolution.handle(event, in: makeResolver()) {
        case .intercept(let chain, _): result = "judge \(chain.names.joined(separator: ","))"
        case .passGates(let gates):
          result = "wait \(gates.map(\.name).joined(separator: ","))"
        case .load: result = "load"
        case .respond(let value): result = "answer \(value.brief)"
        case .dispatch(let destination):
          result = destination.isHandled ? "at \(destination.uri.text)" : "undefined"
        }
      } catch {
        return "\(error.code) \(error.kind)"
      }
    }
    return result
  }

  @Test func resolvesKnownRouteAndRejectsUnknown() throws {
    try router.task("action://a") { _ in 1 }
    #expect(resolve("action://a") == "at action://a")
    #expect(resolve("action://b") == "2404 noRoute")
    #expect(resolve("no uri") == "-32602 invalidParams")
  }

  @Test func passesGatesAfterInterceptors() throws {
    try router.task("action://a") { call in .object(call.params) }
    router.intercept("judge") { _ in .next }
    for name in ["first", "second"] {
      router.add(Gate(name, on: [.routes(["action://a"])], opens: try RouteURI("native://login")))
    }
    let gates = router.snapshot().gates
    #expect(
      resolve("action://a", then: [.intercepted(.gates(gates, params: nil))]) == "wait first,second"
    )
    #expect(
      resolve(
        "action://a", then: [.intercepted(.gates(gates, params: ["n": 1])), .intercepted(.proceed)])
        == "at action://a")
    let options = SessionCallOptions(rights: .app, passesGates: true)
    let resolution = SessionCallResolution(.invoke, "action://a", options)
    _ = try resolution.handle(.started, in: makeResolver())
    guard
      case .dispatch(let destination) = try resolution.handle(
        .intercepted(.gates(gates, params: ["n": 1])), in: makeResolver())
    else {
      Issue.record("the page of a gate waits")
      return
    }
    #expect(destination.resolution.params == ["n": 1])
  }

  @Test func runsInterceptorsBeforeDispatch() throws {
    try router.task("action://a") { _ in 1 }
    try router.task("action://b") { _ in 2 }
    router.intercept("gate") { _ in .next }
    let led = InterceptorChain.ChainDecision.redirect(to: "action://b", params: nil, by: "gate")
    let no = InterceptorChain.ChainDecision.refused(by: "gate", reason: "closed")
    #expect(resolve("action://a") == "judge gate")
    #expect(resolve("action://a", then: [.intercepted(.proceed)]) == "at action://a")
    #expect(resolve("action://a", then: [.intercepted(led)]) == "judge gate")
    #expect(resolve("action://a", then: [.intercepted(no)]) == "2423 refused")
    #expect(resolve("action://none") == "2404 noRoute")
  }

  @Test func rejectsRedirectLoop() throws {
    try router.task("action://a") { _ in 1 }
    router.intercept("gate") { _ in .next }
    let again = SessionCallResolution.ResolutionEvent.intercepted(
      .redirect(to: "action://a", params: nil, by: "gate"))
    #expect(resolve("action://a", then: Array(repeating: again, count: 8)) == "judge gate")
    #expect(resolve("action://a", then: Array(repeating: again, count: 9)) == "2508 redirectLoop")
  }

  @Test func triesNextRouteThenFallbackThenHandler() throws {
    for (name, pattern) in [("one", "native://a/b"), ("two", "native://a/:x")] {
      let fallback = name == "two" ? try PatternTarget("action://f") : nil
      try router.register(
        Route(
          name: name, patterns: [RoutePattern(pattern)], kind: .page, fallback: fallback,
          handler: .page(PageHandler(open: { _, _ in }, close: { _, _, _ in }))))
    }
    try router.task("action://f") { _ in 1 }
    #expect(resolve("native://a/b") == "at native://a/b")
    #expect(resolve("native://a/b", then: [.declined]) == "at native://a/b")
    #expect(resolve("native://a/b", then: [.declined, .declined]) == "at action://f?x=b")
    #expect(resolve("native://a/b", then: [.declined, .declined, .declined]) == "2404 declined")
    router.setUndefinedRouteHandler { _ in .decline }
    #expect(resolve("native://a/b", then: [.declined, .declined, .declined]) == "undefined")
    #expect(resolve("native://c") == "undefined")
    #expect(resolve("native://c", then: [.undefined(.respond(7))]) == "answer 7")
    #expect(resolve("native://c", then: [.undefined(.decline)]) == "2404 noRoute")
    let led = UndefinedRouteDecision.redirect(uri: "action://f", params: [:])
    #expect(resolve("native://c", then: [.undefined(led)]) == "at action://f")
  }

  @Test func loadsModuleOnceAndRequiresHandler() throws {
    try router.registerModule(
      "lazy",
      routes: [Route(name: "l", patterns: [RoutePattern("action://l")], kind: .task)]
    ) { _ in }
    #expect(resolve("action://l") == "load")
    #expect(resolve("action://l", then: [.moduleLoaded]) == "-32603 internal")
  }

  @Test("every random resolution ends", arguments: 1...40)
  func everyResolutionEnds(seed: Int) throws {
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
    if Bool.random(using: &random) {
      router.add(Gate("signedIn", on: [.all()], opens: try RouteURI("native://login")))
    }
    if Bool.random(using: &random) { router.setUndefinedRouteHandler { _ in .decline } }
    let guide = makeResolver()
    for start in 0..<10 {
      let resolution = SessionCallResolution(
        .open, "native://r\(start)/1", SessionCallOptions(rights: .app))
      var event = SessionCallResolution.ResolutionEvent.started
      var steps = 0
      while steps < 100 {
        steps += 1
        let next = "native://r\(Int.random(in: 0..<10, using: &random))/2"
        do throws(CallError) {
          switch try resolution.handle(event, in: guide) {
          case .intercept:
            let verdicts: [InterceptorChain.ChainDecision] = [
              .proceed, .changed(params: ["a": 1]), .gates([], params: ["a": 2]),
              .redirect(to: next, params: nil, by: "gate"),
            ]
            event = .intercepted(verdicts.randomElement(using: &random) ?? .proceed)
          case .dispatch(let destination) where destination.isHandled: event = .declined
          case .dispatch: event = .undefined(.redirect(uri: next, params: [:]))
          case .load, .respond: event = .moduleLoaded
          case .passGates: event = .intercepted(.proceed)
          }
        } catch {
          break
        }
      }
      #expect(steps < 100, "seed \(seed), start \(start)")
    }
  }
}
