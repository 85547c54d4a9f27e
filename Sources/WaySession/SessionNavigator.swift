import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Gives Swift code of a session access to the router that called it.
///
/// Three words, so that it is stored inline in an `any Navigator`: each call has one.
struct SessionNavigator: BlobNavigator {
  private final class PageIDBox: Sendable {
    let id: String
    init(_ id: String) { self.id = id }
  }

  private let sessionActor: Session
  private let pageIDBox: PageIDBox?
  /// The rights of the caller. Only the session reads them, on its loop.
  private let rights: Rights

  init(session: Session, page: String?, _ rights: Rights) {
    sessionActor = session
    pageIDBox = page.map(PageIDBox.init)
    self.rights = rights
  }

  /// The page on whose behalf the code runs.
  private var page: String? { pageIDBox?.id }

  var session: String { sessionActor.id }

  var blobSource: (any CallBlobSource)? { sessionActor.environment.blobs?.callSource }

  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Outcome {
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, style: style, callingPage: page,
      timeout: timeout?.clampedTimeout,
      attachments: RouterAttachments(attachments))
    return try await sessionActor.runCall(.open, uri, options).asOutcome
  }

  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Value {
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, callingPage: page,
      timeout: timeout?.clampedTimeout,
      attachments: RouterAttachments(attachments))
    return try await sessionActor.runCall(.invoke, uri, options).value
  }

  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable], returning type: Back.Type
  ) async throws -> Back {
    let callAttachments = RouterAttachments(attachments, result: type)
    let options = SessionCallOptions(
      rights: rights, params: params, exts: exts, callingPage: page,
      timeout: timeout?.clampedTimeout,
      attachments: callAttachments)
    _ = try await sessionActor.runCall(.invoke, uri, options)
    guard let returnedValue = callAttachments.returnedValue, let value = returnedValue as? Back
    else {
      throw CallError(
        .internal,
        "\(uri.quoted) did not return a value of the type \(type) that its caller expects")
    }
    return value
  }

  func canOpen(_ uri: String) async -> Bool {
    await sessionActor.canOpen(uri, rights)
  }

  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    let pageRequest = PageMethodRequest(
      page: page, method: method, params: params, rights: rights, timeout: nil)
    return try await sessionActor.call(pageRequest).get()
  }

  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange {
    try await sessionActor.changeStack(.back, about: target.page, exts, by: rights) {
      SessionBackRequest(target, result: result).operation(by: $0, for: rights.caller)
    }
  }

  func finish(
    _ result: PageResult?, page given: String?, exts: ValueObject
  ) async throws -> NavigationChange {
    guard let page = given ?? page else {
      throw CallError.invalidParams(
        "Pass the page to finish; this code does not run on behalf of a page")
    }
    return try await sessionActor.changeStack(.finish, about: page, exts, by: rights) { _ in
      .finish(page: page, result: result?.outcome ?? .finished())
    }
  }

  func edit(
    _ remove: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject
  ) async throws -> NavigationChange {
    let params = try StackEditParams(remove, opening: pages, exts: exts)
    return try await sessionActor.edit(
      StackEditRequest(params: params, rights: rights, callingPage: page))
  }

  func selectTab(_ index: Int) async throws -> NavigationChange {
    try await sessionActor.selectTab(.index(index), by: rights)
  }

  func selectTab(_ uri: String) async throws -> NavigationChange {
    try await sessionActor.selectTab(.uri(uri), by: rights)
  }

  func setGate(_ name: String, isOpen: Bool) async throws {
    try await sessionActor.setGate(name, isOpen: isOpen)
  }

  func stack() async -> NavigationStack {
    await sessionActor.stack
  }

  func contains(_ page: String) async -> Page? {
    await sessionActor.contains(page, rights)
  }
}

extension Call {
  /// Creates the call of a resolution in the form that Swift code of a session gets. `number` is
  /// the number of a call that does not complete at once.
  init(
    _ resolution: Resolution, _ options: SessionCallOptions, _ number: CallNumber? = nil,
    in session: Session
  ) {
    options.attachments?.resetResult()
    var context: PendingCallContext?
    if number != nil || options.attachments != nil || options.idempotencyKey != nil {
      context = PendingCallContext(
        deadline: number == nil ? nil : options.timeout.map { ContinuousClock.now + $0 },
        attachments: options.attachments, key: options.idempotencyKey,
        reportProgress: { value in
          guard let number else { return }
          session.loop.execute { session.assumeIsolated { $0.reportProgress(value, of: number) } }
        })
    }
    self.init(
      resolution, exts: options.exts,
      navigator: SessionNavigator(session: session, page: options.callingPage, options.rights),
      caller: options.rights.caller, context: context)
  }
}

extension Session {
  fileprivate var stack: NavigationStack { pages.stack }

  fileprivate func canOpen(_ uri: String, _ rights: Rights) -> Bool {
    resolver.canOpen(uri, rights)
  }

  fileprivate func contains(_ page: String, _ rights: Rights) -> Page? {
    pages.stack.find(resolver.reference(page, for: rights.caller))
  }
}

extension Duration {
  /// The duration, limited to the range of timers: a millisecond to a day.
  var clampedTimeout: Duration { min(max(self, .milliseconds(1)), .seconds(86_400)) }
}
