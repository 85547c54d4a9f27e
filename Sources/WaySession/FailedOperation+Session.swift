import WayRPC
import WayRouting
import WayValues

extension FailedOperation {
  /// That of a method about a page, which is named by a reference, if at all. Nil where nobody is
  /// told of it.
  init?(
    _ method: String, about page: String?, by caller: Caller, in session: isolated Session
  ) {
    guard session.happenings.isTold(.route) else { return nil }
    self.init(
      method: method, uri: page.flatMap { Self.uri(of: $0, in: session) }, caller: caller)
  }

  /// That of a URI which leads to the stack. Nil where nobody is told of it.
  init?(_ resolution: Resolution, by caller: Caller, in session: isolated Session) {
    guard session.happenings.isTold(.route) else { return nil }
    self.init(method: nil, uri: resolution.uri.text, caller: caller)
  }

  private static func uri(of page: String, in session: isolated Session) -> String? {
    if page.utf8.contains(UInt8(ascii: ":")) { return page }
    return session.pages.stack.contains(session.guide.reference(page, for: nil))?.uri
  }
}

extension Session {
  /// Tells that a request failed before it became a call: where it was for a URI, for the stack or
  /// for a page, it has come to nothing. What is refused by its id or the count of calls was never
  /// looked up.
  func tell(_ error: CallError, of request: RequestView, by caller: Caller) {
    guard happenings.isTold(.route), error.protocolCode != .conflict,
      error.protocolCode != .tooMany, error.protocolCode != .methodNotFound
    else { return }
    let params = request.params.value
    func text(_ name: String) -> String? { params?[name]?.string }
    switch request.method {
    case "router.open", "router.invoke": happenings.tellNowhere(text("uri"), error, by: caller)
    case let method where method == "page.call" || method.hasPrefix("navigation."):
      let page = text("uri") ?? text("to") ?? text("before") ?? text("page")
      happenings.tell(failed: FailedOperation(method, about: page, by: caller, in: self), error)
    default: break
    }
  }
}
