import WayNavigation
import WayValues

/// Shows the pages of a scheme or of patterns.
///
/// A host may be `@MainActor`, or an actor with its own executor; the methods of any other host run
/// on the client's thread, which they must not block. They start in the order of the server's
/// requests. For one page ``open(_:)`` is called first, and ``close(_:reason:exts:)`` once, after
/// ``open(_:)`` has returned.
public protocol PageHost: Sendable {
  /// Shows the page and returns when it is visible, within 10 s (the server's default limit).
  ///
  /// Throwing rejects the page: its opener gets 2502 with the error's text, except that
  /// ``Declined`` passes the page to the next host. The task is cancelled when the page is no
  /// longer wanted; if the page is shown nevertheless, ``close(_:reason:exts:)`` follows.
  func open(_ page: BridgeClient.HostedPage) async throws

  /// Closes the page.
  ///
  /// `reason` is the kind of the outcome that its opener gets; it is ``Outcome/OutcomeKind/failed``
  /// if the session no longer exists. `exts`, for example `animated`, are those of the back, finish
  /// or open that closed the page.
  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) async

  /// The page is on top again. Does nothing by default.
  func resume(_ page: BridgeClient.HostedPage) async

  /// Updates the page, which has got another URI, parameters or extensions while it was open: a call
  /// with the style `popTo` or `tab`, or the route that selects a tab, has found it. ``resume(_:)``
  /// follows with the same page, and later calls of the host have it too. Does nothing by default.
  func update(_ page: BridgeClient.HostedPage) async

  /// Runs a method of the page, called by another client or by the server. Errors reach the caller
  /// as with ``BridgeClient/Host/task(_:_:)``. By default it throws -32601: no such method.
  func call(_ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage) async throws -> Value
}

extension PageHost {
  public func resume(_ page: BridgeClient.HostedPage) async {}

  public func update(_ page: BridgeClient.HostedPage) async {}

  public func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage
  ) async throws -> Value {
    throw call.methodNotFoundError
  }
}
