import WayNavigation
import WayValues

/// The code that runs or shows a route.
public enum RouteHandler: Sendable {
  /// A host: a client that shows pages or runs tasks.
  case hosted
  /// A task that runs on the caller's thread until it returns, and must not block.
  case task(@Sendable (Call) throws -> Value)
  /// A task that may wait; it runs until it returns or is cancelled.
  case asyncTask(@Sendable (Call) async throws -> Value)
  /// A page that Swift code shows.
  case page(PageHandler)
  /// A module that gives the route its handler when it is called;
  /// ``Router/registerModule(_:routes:handling:register:)`` sets it.
  case lazy(LazyModule)

  /// Whether a route with this handler has yet to get one, unless hosts serve it.
  var isUnassigned: Bool {
    switch self {
    case .hosted, .lazy: true
    case .task, .asyncTask, .page: false
    }
  }

  /// Whether the handler can serve a route of a kind.
  func supports(_ kind: RouteKind) -> Bool {
    switch self {
    case .hosted, .lazy: true
    case .task, .asyncTask: kind != .page
    case .page: kind == .page
    }
  }
}

extension RouteHandler {
  /// Returns the handler that also checks the values of a synchronous task, and throws
  /// ``InvalidResult``. So a task without a declared result costs nothing. The results of other
  /// handlers are checked where they arrive.
  func checking(_ result: ValueSchema?) -> RouteHandler {
    guard let result, case .task(let run) = self else { return self }
    return .task { call in
      let value = try run(call)
      // A value that stays in the process is not JSON.
      if call.attachments?.returnedValue == nil,
        let invalid = InvalidResult(value, of: result, from: .task)
      {
        throw invalid
      }
      return value
    }
  }
}

/// A handler that shows a page from Swift instead of through a host, for instance with a third
/// party's library.
public struct PageHandler: Sendable {
  /// Shows the page and returns when it is visible; if it throws, the page does not open.
  ///
  /// The call is the opener's, with its attachments (``Call/attachment(_:as:)``). Its navigator
  /// acts for the page, and may be stored: ``Navigator/finish(_:page:)`` closes the page with its
  /// result. Changes of the stack wait until the page is shown, so this closure must not await
  /// them.
  public let open: @Sendable (Page, Call) async throws -> Void
  /// Closes the page. The reason is the kind of its outcome. The `exts`, for example `animated`,
  /// are those of the back, finish or open that closed it.
  public let close:
    @Sendable (Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async -> Void
  /// Updates the page, which has got another URI, parameters or `exts` while it was open: a call with
  /// the style `popTo` or `tab` has found it. `nil` if the page ignores them.
  public let update: (@Sendable (Page) async -> Void)?
  /// Runs one of the page's methods (`page.call`) and returns its value. The call's `params` are
  /// the method's, its `uri` is the page's. An error reaches the caller as that of a task. `nil` if
  /// the page has no methods; ``UnknownMethod`` means that it does not have this one.
  public let call: (@Sendable (Page, _ method: String, Call) async throws -> Value)?
  /// Decides whether the page may close, to which an operation navigates that is not the page's own
  /// ``Navigator/finish(_:page:exts:)``. `destination` is the page that would be on top then. The page
  /// stays open if the closure returns `false`, or nothing within 30 s. `nil` if the page may always
  /// close.
  public let mayLeave: (@Sendable (Page, _ destination: Page?) async -> Bool)?
  /// Creates a handler for each opening; `nil` if one handler serves all.
  private let factory: (@Sendable () -> PageHandler)?

  /// Creates a handler. The closures are called on any thread: `open` and `close` one after the
  /// other for one page, `update` and `call` any number of times between them, also while `close`
  /// runs.
  public init(
    open: @escaping @Sendable (Page, Call) async throws -> Void,
    close:
      @escaping @Sendable (Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async -> Void,
    update: (@Sendable (Page) async -> Void)? = nil,
    call: (@Sendable (Page, _ method: String, Call) async throws -> Value)? = nil,
    mayLeave: (@Sendable (Page, _ destination: Page?) async -> Bool)? = nil
  ) {
    self.init(
      open: open, close: close, update: update, call: call, mayLeave: mayLeave, forOpening: nil)
  }

  init(
    open: @escaping @Sendable (Page, Call) async throws -> Void,
    close:
      @escaping @Sendable (Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async -> Void,
    update: (@Sendable (Page) async -> Void)?,
    call: (@Sendable (Page, _ method: String, Call) async throws -> Value)?,
    mayLeave: (@Sendable (Page, _ destination: Page?) async -> Bool)?,
    forOpening: (@Sendable () -> PageHandler)?
  ) {
    self.open = open
    self.close = close
    self.update = update
    self.call = call
    self.mayLeave = mayLeave
    factory = forOpening
  }

  /// Returns the handler of one opening.
  package func makeInstance() -> PageHandler { factory?() ?? self }
}
