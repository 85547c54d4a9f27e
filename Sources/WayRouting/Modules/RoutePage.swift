import Synchronization
import WayNavigation
import WayValues

/// A page that Swift code shows, as a type whose `Decodable` properties are the page's parameters.
///
/// ```swift
/// struct AddressPage: RoutePage {
///   let id: Int
///   let pick: Bool?
///
///   func open(_ page: Page, _ call: Call) async throws { print("address \(id)") }
///   func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
/// }
///
/// try router.page("native://address/:id", AddressPage.self)
/// ```
///
/// Each opening decodes an instance, as ``Page/decode(_:)`` does. Parameters that do not fit fail
/// with 2422 and their path, and nothing is opened. The instance lives until the page has closed,
/// so that a class may hold the view that it shows.
public protocol RoutePage: Decodable, Sendable {
  /// Shows the page, as ``PageHandler/open`` does; if it throws, the page does not open.
  func open(_ page: Page, _ call: Call) async throws
  /// Closes the page, as ``PageHandler/close`` does. It is also called if ``open(_:_:)`` was
  /// cancelled and returned without an error all the same.
  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async
  /// Updates the page, as ``PageHandler/update`` does. The properties keep their values; `page` has
  /// the new parameters, which ``Page/decode(_:)`` decodes. By default nothing happens.
  func update(_ page: Page) async
  /// Runs one of the page's methods, as ``PageHandler/call`` does; throws ``UnknownMethod`` for any
  /// other. By default a page has no methods.
  func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value
}

extension RoutePage {
  public func update(_ page: Page) async {}

  public func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value {
    throw UnknownMethod()
  }
}

/// A page that is asked before it closes, for example because the user would lose what was entered.
public protocol GuardedRoutePage: RoutePage {
  /// Decides whether the page may close, as ``PageHandler/mayLeave`` does.
  func mayLeave(_ page: Page, to destination: Page?) async -> Bool
}

/// The error of a page that does not have the method of a call.
public struct UnknownMethod: Error, Sendable {
  /// Creates the error.
  public init() {}
}

extension PageHandler {
  /// Creates a handler from a type, for ``Router/handle(_:with:)``, if a table declares the route.
  public init<Shown: RoutePage>(_ type: Shown.Type) {
    self.init(of: type) { PageHandler(of: type) }
  }

  /// `forOpening` returns the handler of one opening.
  private init<Shown: RoutePage>(
    of type: Shown.Type, forOpening: (@Sendable () -> PageHandler)? = nil
  ) {
    let shown = PageInstance<Shown>()
    self.init(
      open: { page, call in try await shown.make(for: page).open(page, call) },
      close: { page, reason, exts in await shown.page?.close(page, reason, exts) },
      update: { page in await shown.page?.update(page) },
      call: { page, method, call in
        guard let shown = shown.page else { throw UnknownMethod() }
        return try await shown.call(page, method, call)
      },
      mayLeave: shown.mayLeave, forOpening: forOpening)
  }
}

extension Router {
  /// Registers a page by its type. The `Decodable` properties of the type are the parameters.
  ///
  /// By default the name is the pattern. Throws the errors of ``register(_:replacing:)``.
  @discardableResult
  public func page<Shown: RoutePage>(
    _ pattern: String, _ type: Shown.Type, name: String? = nil, priority: Int = 0
  ) throws(RouterConfigurationError) -> Registration {
    try page(pattern, name: name, priority: priority, PageHandler(type))
  }
}

/// The page of one opening, once its parameters have been decoded.
private final class PageInstance<Shown: RoutePage>: Sendable {
  private let storedPage = Mutex<Shown?>(nil)

  var page: Shown? { storedPage.withLock { $0 } }

  /// The guard of the page; `nil` if its type has none.
  var mayLeave: (@Sendable (Page, _ destination: Page?) async -> Bool)? {
    guard Shown.self is any GuardedRoutePage.Type else { return nil }
    return { page, destination in
      guard let shown = self.page as? any GuardedRoutePage else { return true }
      return await shown.mayLeave(page, to: destination)
    }
  }

  func make(for page: Page) throws(RouterResolutionError) -> Shown {
    let instance = try page.decode(Shown.self)
    storedPage.withLock { $0 = instance }
    return instance
  }
}
