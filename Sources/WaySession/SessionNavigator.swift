import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Lets Swift code of a session use the router that called it.
///
/// Three words, so that it lies in an `any Navigator` without memory of its own: each call has one.
struct SessionNavigator: Navigator {
  private final class PageName: Sendable {
    let id: String
    init(_ id: String) { self.id = id }
  }

  private let own: Session
  private let pageName: PageName?
  /// Those of who called the code.
  private let rights: Rights

  init(session: Session, page: String?, _ rights: Rights) {
    own = session
    pageName = page.map(PageName.init)
    self.rights = rights
  }

  /// The page on whose behalf the code runs.
  private var page: String? { pageName?.id }

  var session: String { own.id }

  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Outcome {
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, style: style, from: page,
      deadline: deadline?.asTimer,
      carried: Carried(carrying))
    return try await SessionAppCalls.go(.open, uri, options, in: own).asOutcome
  }

  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Value {
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, from: page, deadline: deadline?.asTimer,
      carried: Carried(carrying))
    return try await SessionAppCalls.go(.invoke, uri, options, in: own).value
  }

  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable], carryingBack type: Back.Type
  ) async throws -> Back {
    let carried = Carried(carrying, back: type)
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, from: page, deadline: deadline?.asTimer,
      carried: carried)
    _ = try await SessionAppCalls.go(.invoke, uri, options, in: own)
    guard let brought = carried.brought, let back = brought as? Back else {
      throw CallError(
        .internal, "\(uri.quoted) has carried nothing back: its caller wants a \(type)")
    }
    return back
  }

  func canOpen(_ uri: String) async -> Bool {
    await own.canOpen(uri, rights)
  }

  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    try await SessionAppCalls.call(page: page, method, params, rights, timeout: nil, in: own).get()
  }

  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange {
    try await SessionAppCalls.change("navigation.back", about: target.page, exts, rights, in: own) {
      BackRequest(target, result: result).operation(by: $0, for: rights.caller)
    }
  }

  func finish(
    _ result: PageResult?, page given: String?, exts: ValueObject
  ) async throws -> NavigationChange {
    guard let page = given ?? page else {
      throw CallError.invalidParams("Name the page to finish: this code runs on behalf of none")
    }
    return try await SessionAppCalls.change("navigation.finish", about: page, exts, rights, in: own)
    {
      _ in
      .finish(page: page, result: result?.outcome ?? .finished())
    }
  }

  func selectTab(_ index: Int) async throws -> NavigationChange {
    try await SessionAppCalls.select(.index(index), rights, in: own)
  }

  func selectTab(_ uri: String) async throws -> NavigationChange {
    try await SessionAppCalls.select(.uri(uri), rights, in: own)
  }

  func stack() async -> NavigationStack {
    await own.stack
  }

  func contains(_ page: String) async -> Page? {
    await own.contains(page, for: rights.caller)
  }
}

extension Call {
  /// A call of what a URI says, as Swift code of a session sees it; `number` is that of one that
  /// goes on.
  init(
    _ said: Resolution, _ options: SessionCallOptions, _ number: CallNumber? = nil,
    in session: Session
  ) {
    options.carried?.begin()
    var waiting: WaitingCall?
    if number != nil || options.carried != nil || options.key != nil {
      waiting = WaitingCall(
        deadline: number == nil ? nil : options.deadline.map { ContinuousClock.now + $0 },
        carried: options.carried, key: options.key,
        progress: { value in
          guard let number else { return }
          session.loop.execute { session.assumeIsolated { $0.report(value, of: number) } }
        })
    }
    self.init(
      said, exts: options.exts,
      navigator: SessionNavigator(session: session, page: options.from, options.rights),
      caller: options.rights.caller, waiting: waiting)
  }
}

extension Session {
  fileprivate var stack: NavigationStack { pages.stack }

  fileprivate func canOpen(_ uri: String, _ rights: Rights) -> Bool {
    guide.canOpen(uri, rights)
  }

  fileprivate func contains(_ page: String, for caller: Caller) -> Page? {
    pages.stack.contains(guide.reference(page, for: caller))
  }
}

extension Duration {
  /// Brought into the range that timers take: a millisecond to a day.
  var asTimer: Duration { min(max(self, .milliseconds(1)), .seconds(86_400)) }
}
