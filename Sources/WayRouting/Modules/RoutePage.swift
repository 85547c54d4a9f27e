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
///   func close(_ page: Page, _ reason: Outcome.Kind, _ exts: ValueObject) async {}
/// }
///
/// try router.page("native://address/:id", AddressPage.self)
/// ```
///
/// Each opening makes one of its own, as ``Page/decode(_:)`` does; parameters that do not fit are
/// 2422 with their place, and nothing is opened. It is kept until the page is gone, so that a class
/// may hold what it shows.
public protocol RoutePage: Decodable, Sendable {
  /// Shows the page, as ``PageHandler/open`` does; an error means that it does not open.
  func open(_ page: Page, _ call: Call) async throws
  /// Takes the page away, as ``PageHandler/close`` does; also where ``open(_:_:)`` has been called
  /// off and came to its end all the same.
  func close(_ page: Page, _ reason: Outcome.Kind, _ exts: ValueObject) async
  /// Runs one of the page's methods, as ``PageHandler/call`` does; throws ``UnknownMethod`` for any
  /// other. A page has none unless it says so.
  func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value
}

extension RoutePage {
  public func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value {
    throw UnknownMethod()
  }
}

/// Thrown by a page that is called by a method which it does not have.
public struct UnknownMethod: Error, Sendable {
  /// To be thrown.
  public init() {}
}

extension PageHandler {
  /// Shows pages by a type: for ``Router/handle(_:with:)``, where a table declares the route.
  public init<ShownPageHandle: RoutePage>(_ type: ShownPageHandle.Type) {
    self.init(of: type) { PageHandler(of: type) }
  }

  /// `forOpening` gives the handler of one opening.
  private init<ShownPageHandle: RoutePage>(
    of type: ShownPageHandle.Type, forOpening: (@Sendable () -> PageHandler)? = nil
  ) {
    let shown = PageInstance<ShownPageHandle>()
    self.init(
      open: { page, call in try await shown.make(for: page).open(page, call) },
      close: { page, reason, exts in await shown.page?.close(page, reason, exts) },
      call: { page, method, call in
        guard let shown = shown.page else { throw UnknownMethod() }
        return try await shown.call(page, method, call)
      }, forOpening: forOpening)
  }
}

extension Router {
  /// Registers a page by its type, whose `Decodable` properties are its parameters.
  ///
  /// The name is the pattern where none is given. Throws ``RouterError`` as
  /// ``register(_:replacing:)``.
  @discardableResult
  public func page<ShownPageHandle: RoutePage>(
    _ pattern: String, _ type: ShownPageHandle.Type, name: String? = nil, priority: Int = 0
  ) throws(RouterError) -> Registration {
    try page(pattern, name: name, priority: priority, PageHandler(type))
  }
}

/// The page of one opening, once its parameters have been read.
private final class PageInstance<ShownPageHandle: RoutePage>: Sendable {
  private let held = Mutex<ShownPageHandle?>(nil)

  var page: ShownPageHandle? { held.withLock { $0 } }

  func make(for page: Page) throws(ResolutionError) -> ShownPageHandle {
    let made = try page.decode(ShownPageHandle.self)
    held.withLock { $0 = made }
    return made
  }
}
