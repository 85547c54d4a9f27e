import WayNavigation
import WayValues

/// Who runs or shows a route.
public enum RouteHandler: Sendable {
  /// A host: a client that shows pages or runs tasks.
  case hosted
  /// Runs on the caller's thread until it returns, so it must not block.
  case task(@Sendable (Call) throws -> Value)
  /// May wait; runs until it returns or is cancelled.
  case asyncTask(@Sendable (Call) async throws -> Value)
  /// Shows the page from Swift.
  case page(PageHandler)
  /// A module that gives the route its handler when it is called;
  /// ``Router/module(_:routes:serving:register:)`` sets it.
  case lazy(LazyModule)

  /// Whether a route with this has yet to get a handler, unless hosts serve it.
  var isOpen: Bool {
    switch self {
    case .hosted, .lazy: true
    case .task, .asyncTask, .page: false
    }
  }

  /// Whether this can serve a route of a kind.
  func fits(_ kind: RouteKind) -> Bool {
    switch self {
    case .hosted, .lazy: true
    case .task, .asyncTask: kind != .page
    case .page: kind == .page
    }
  }
}

/// Shows a page from Swift instead of through a host, for instance with a third party's library.
public struct PageHandler: Sendable {
  /// Shows the page and returns when it is there; an error means that it does not open.
  ///
  /// The call is the opener's, with what it carries (``Call/carried(_:as:)``). Its navigator acts
  /// for the page, and may be kept: ``Navigator/finish(_:page:)`` closes the page with its result.
  /// What changes the stack waits until the page is there, so it must not be awaited before.
  public let open: @Sendable (Page, Call) async throws -> Void
  /// Takes the page away. The reason is the kind of its outcome; the `exts`, `animated` for
  /// instance, are those of the back, finish or open that closed it.
  public let close: @Sendable (Page, _ reason: Outcome.Kind, _ exts: ValueObject) async -> Void
  /// Runs one of the page's methods (`page.call`) and gives its value. The call's `params` are the
  /// method's, its `uri` is the page's. An error is told as a task's. Nil where the page has no
  /// methods; ``UnknownMethod`` says that it does not have this one.
  public let call: (@Sendable (Page, _ method: String, Call) async throws -> Value)?
  /// Gives a handler of its own for each opening; nil where one serves all.
  private let fresh: (@Sendable () -> PageHandler)?

  /// The closures are called on any thread: `open` and `close` one after the other for one page,
  /// `call` as often as others ask and at any time between, also while `close` runs.
  public init(
    open: @escaping @Sendable (Page, Call) async throws -> Void,
    close: @escaping @Sendable (Page, _ reason: Outcome.Kind, _ exts: ValueObject) async -> Void,
    call: (@Sendable (Page, _ method: String, Call) async throws -> Value)? = nil
  ) {
    self.init(open: open, close: close, call: call, forOpening: nil)
  }

  init(
    open: @escaping @Sendable (Page, Call) async throws -> Void,
    close: @escaping @Sendable (Page, _ reason: Outcome.Kind, _ exts: ValueObject) async -> Void,
    call: (@Sendable (Page, _ method: String, Call) async throws -> Value)?,
    forOpening: (@Sendable () -> PageHandler)?
  ) {
    self.open = open
    self.close = close
    self.call = call
    fresh = forOpening
  }

  /// The handler of one opening.
  package func forOpening() -> PageHandler { fresh?() ?? self }
}
