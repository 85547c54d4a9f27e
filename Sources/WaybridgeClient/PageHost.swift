import WayNavigation
import WayValues

/// Shows the pages of a scheme or of patterns.
///
/// A host may be `@MainActor`, or an actor with an executor of its own; the methods of any other
/// run on the client's thread, which they must not block. They are begun in the order of the
/// server's requests. For one page ``open(_:)`` is called first and ``close(_:reason:exts:)`` once,
/// when it has returned.
public protocol PageHost: Sendable {
  /// Shows the page and returns when it is there, within 10 s (the server's limit, unless told
  /// otherwise).
  ///
  /// Throwing refuses the page: its opener gets 2502 with the error's text, save that ``Declined``
  /// leaves the page to who comes next. The task is cancelled when the page is no longer wanted;
  /// should it be shown all the same, ``close(_:reason:exts:)`` follows.
  func open(_ page: BridgeClient.Page) async throws

  /// Takes the page away.
  ///
  /// `reason` is the kind of the outcome that its opener gets; it is ``Outcome/Kind/failed`` when
  /// the session is gone. `exts`, `animated` for instance, are those of the back, finish or
  /// open that closed the page.
  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async

  /// The page is on top again. Does nothing where a host does not say otherwise.
  func resume(_ page: BridgeClient.Page) async

  /// A method of the page, called by another client or by the server. What it throws reaches the
  /// caller as with ``BridgeClient/Host/task(_:_:)``. Where a host does not say otherwise it throws
  /// -32601: no such method.
  func call(_ call: BridgeClient.MethodCall, of page: BridgeClient.Page) async throws -> Value
}

extension PageHost {
  public func resume(_ page: BridgeClient.Page) async {}

  public func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.Page
  ) async throws -> Value {
    throw call.unknown
  }
}
