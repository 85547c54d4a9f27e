import WayNavigation
import WayValues

/// `page.…`: methods of pages. The client that runs in a page responds to them, or else its host.
enum PageMethods {
  private static let page = Param(.page, .string)

  static let all = [
    SessionMethod(
      "page.call",
      [
        page, Param(.method, .string), Param(.params, .object),
        Param(.deadlineMs, .count), Param(.onBehalfOf, .any), Param(.key, .string),
      ], call),
    SessionMethod(
      "page.setGuard", [page, Param(.enabled, .bool), Param(.timeoutMs, .count)], setGuard),
    SessionMethod("page.setResult", [page, Param(.result, .object)], setResult),
    SessionMethod("page.sync", [Param(.pages, .list), Param(.failed, .list)], sync),
  ]

  private static func call(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let pageRequest = PageMethodRequest(
      page: try params.required(.page), method: try params.required(.method),
      params: params.object(.params) ?? [:], rights: try session.rights(of: client, for: params),
      timeout: params.duration(.deadlineMs),
      key: params.string(.key).map { session.idempotencyKey($0, of: client) },
      excludedClient: client.id)
    guard let key = pageRequest.key else {
      return try session.start(.pageMethod(pageRequest), for: .request(handle))
    }
    let request = IdempotentRequest(
      method: "page.call \(pageRequest.method)", target: pageRequest.page,
      params: pageRequest.params)
    return try session.perform(
      .pageMethod(pageRequest), under: key.text, request, timeout: pageRequest.timeout,
      params.value,
      handle)
  }

  /// Sets the guard of the client for a page, which is asked before the page closes, or removes it.
  private static func setGuard(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let page = try openPage(params, .setGuard, handle, in: session)
    let timeout = params.duration(.timeoutMs) ?? PageGuard.defaultTimeout
    guard timeout > .zero, timeout <= PageGuard.maxTimeout else {
      throw .invalidParams(
        "params.timeoutMs must be from 1 to \(PageGuard.maxTimeout / .milliseconds(1))")
    }
    try session.pages.setGuard(
      of: handle.client.id, for: page, timeout: params.bool(.enabled) == false ? nil : timeout)
    return .value(.null)
  }

  /// Sets the result that a page returns if it closes without another one.
  private static func setResult(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let page = try openPage(params, .setResult, handle, in: session)
    let result = try params.result()
    if let result, let open = session.pages[page]?.page {
      try session.pageResultCheck(from: handle.client.name).check(result.data, of: open)
    }
    try session.pages.setResult(result, of: page)
    return .value(.null)
  }

  /// Returns the page that the params name, by default the one that the client is bound to. Fails with
  /// 2403 if the client may not use the method for it.
  private static func openPage(
    _ params: Params, _ method: PolicyRouteMethod, _ handle: ReplyHandle,
    in session: isolated Session
  ) throws(CallError) -> String {
    let id = try params.page(or: handle.client.page)
    let rights = handle.client.rights
    guard let page = session.pages[id]?.page, !session.pages.isOwn(page, of: rights.caller) else {
      return id
    }
    if rights.caller.isGuest {
      throw .notInvited(
        "A guest may use \(method.name) only for its own page, those that it shows, and those that it opened"
      )
    }
    if let denial = session.resolver.denial(of: method, about: page, to: rights) { throw denial }
    return id
  }

  /// Compares the pages that a host shows with the pages of the stack that it should show.
  private static func sync(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let limit = NavigationStack.maxPages
    guard let shown = try params.strings(.pages, limit: limit) else {
      throw .invalidParams("params.pages is missing; it must be an array of page ids")
    }
    let failed = Set(try params.strings(.failed, limit: limit) ?? [])
    if !failed.isEmpty { session.perform(session.pages.removeUnrestored(failed, by: client.name)) }
    session.perform(session.pages.failEdits(showing: shown, by: client.name))
    let own = session.pages.entries(of: client.id)
    let missing = own.filter { !shown.contains($0.page.id) }
    let closed = shown.filter { id in
      !own.contains { $0.page.id == id } && !session.pages.isEdited(id)
    }
    return .value([
      "open": .array(missing.map(\.params)), "closed": .array(closed.map(Value.string)),
    ])
  }
}
