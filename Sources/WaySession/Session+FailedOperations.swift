import WayPatterns
import WayRPC
import WayRouting
import WayValues

extension Session {
  /// Returns the operation of a method about a page, which a reference names, if there is one.
  /// Returns `nil` if route events are not observed.
  func failedOperation(
    _ method: String, about page: String?, by caller: Caller
  ) -> SessionFailedOperation? {
    guard events.isObserved(.route) else { return nil }
    let isURI = page?.utf8.contains(UInt8(ascii: ":")) == true
    let uri = page.flatMap { page in
      isURI
        ? RouteURI.normalForm(of: page)
        : pages.stack.find(resolver.reference(page, for: nil))?.uri
    }
    return SessionFailedOperation(method: method, uri: uri, addsURI: !isURI, caller: caller)
  }

  /// Returns the operation of a URI that leads to the stack. Returns `nil` if route events are not
  /// observed.
  func failedOperation(_ resolution: Resolution, by caller: Caller) -> SessionFailedOperation? {
    guard events.isObserved(.route) else { return nil }
    return SessionFailedOperation(
      method: nil, uri: resolution.uri.text, addsURI: false, caller: caller)
  }
}

extension Session {
  /// Reports a request that failed before it became a call, if it was about a URI, the stack or a
  /// page.
  ///
  /// A request that is rejected for its id or the number of calls is not reported, because its
  /// target was never looked up.
  func reportFailure(_ error: CallError, of request: RPCRequestView, by caller: Caller) {
    guard events.isObserved(.route), error.protocolCode != .conflict,
      error.protocolCode != .tooMany, error.protocolCode != .methodNotFound
    else { return }
    let params = request.params.value
    func text(_ name: String) -> String? { params?[name]?.string }
    switch request.method {
    case "router.open", "router.invoke": events.emitRouteFailure(text("uri"), error, by: caller)
    case let method where method == "page.call" || method.hasPrefix("navigation."):
      let page = text("uri") ?? text("to") ?? text("before") ?? text("page")
      events.emit(failed: failedOperation(method, about: page, by: caller), error)
    default: break
    }
  }
}
