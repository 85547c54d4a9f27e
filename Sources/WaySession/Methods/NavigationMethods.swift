import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// `navigation.…`: methods of the session's stack.
enum NavigationMethods {
  private static let uri = Param(.uri, .string)
  private static let result = Param(.result, .object)
  private static let exts = Param(.exts, .object)

  static let all = [
    SessionMethod(
      "navigation.back",
      [
        Param(.count, .count), Param(.to, .string), Param(.before, .string), Param(.root, .bool),
        result, exts,
      ], back),
    SessionMethod("navigation.finish", [Param(.page, .string), result, exts], finish),
    SessionMethod("navigation.edit", StackEditParams.paramList, edit),
    SessionMethod("navigation.stack") { session, _, handle throws(CallError) in
      let rights = handle.client.rights
      let resolver = session.resolver
      return .value(
        session.pages.value(tabs: resolver.snapshot.tabs.map(\.text), for: rights.caller) { page in
          resolver.denial(of: .stack, about: page, to: rights) != nil
        })
    },
    SessionMethod("navigation.contains", [uri], contains),
    SessionMethod("navigation.selectTab", [Param(.index, .count), uri], selectTab),
    SessionMethod(
      "navigation.adopt", [uri, Param(.params, .object), Param(.style, .string)], adopt),
  ]

  private static func back(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let target = try BackTarget(
      count: params.count(.count), to: params.string(.to), before: params.string(.before),
      root: params.bool(.root))
    let result = try params.result()
    let back = SessionBackRequest(target, result: result)
    return try performOperation(
      back.operation(by: session.resolver, for: handle.caller), .back,
      about: params.string(.to) ?? params.string(.before), result, params, handle, in: session)
  }

  private static func finish(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let page = try params.page(or: handle.client.page)
    let result = try params.result()
    return try performOperation(
      .finish(page: page, result: result?.outcome ?? .finished()), .finish, about: page, result,
      params, handle, in: session)
  }

  /// Removes a range of pages, and opens others in its place.
  private static func edit(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let client = handle.client
    let edit = StackEditRequest(
      params: try StackEditParams(params, session.limits), rights: client.rights,
      callingPage: client.page, timeout: params.duration(.deadlineMs))
    guard let key = params.string(.key) else {
      return try session.start(.stackEdit(edit), for: .request(handle))
    }
    let request = IdempotentRequest(
      method: PolicyRouteMethod.edit.name, target: "", params: edit.params.value)
    return try session.perform(
      .stackEdit(edit), under: key, request, timeout: edit.timeout, params.value, handle)
  }

  private static func performOperation(
    _ operation: StackOperation, _ method: PolicyRouteMethod, about page: String?,
    _ result: PageResult?,
    _ params: Params, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let exts = try params.exts(session.limits)
    let call = try session.beginCall(
      .request(handle), size: Value.object(exts).size + (result?.size ?? 0))
    call.attemptedOperation = session.failedOperation(method.name, about: page, by: handle.caller)
    session.changeStack(operation, exts, by: handle.client.rights, as: method, for: call)
    return .later
  }

  private static func contains(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let reference = session.resolver.reference(
      try params.required(.uri), for: handle.caller)
    guard let page = session.pages.stack.find(reference) else { return .value(.null) }
    // The existence of a page would reveal its URI.
    let isHidden = session.isHidden(page, from: handle.client, as: .contains)
    return .value(isHidden ? .null : .object(page.value))
  }

  private static func selectTab(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let wanted = try TabReference(
      index: params.count(.index), uri: params.string(.uri))
    let attempt = session.failedOperation(
      "navigation.selectTab", about: params.string(.uri), by: handle.caller)
    return try session.selectTab(
      wanted, attempt, .invoke, handle.client.rights, for: .request(handle))
  }

  /// Adds a page that was opened by other means to the top of the stack. Its host is the caller.
  private static func adopt(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let uri = try params.required(.uri)
    let style = try params.style() ?? .push
    guard style == .push || style == .present else {
      throw .invalidParams(
        "params.style must be \"push\" or \"present\" for a page that is adopted")
    }
    let resolution = try session.resolver.resolve(
      uri, params.object(.params) ?? [:], for: handle.caller)
    let client = handle.client
    try client.rights.check(.adopt, resolution)
    let match: RouteMatch? = if case .match(let match) = resolution { match } else { nil }
    let page = Page(
      id: session.pages.makePageID(), uri: resolution.uri.text,
      calledURI: PageURI.called(uri, resolvingTo: resolution.uri), route: match?.route.name,
      pathParams: match?.pathParams ?? [:], style: style, params: resolution.params, exts: [:],
      host: client.name)
    let charge = try session.pages.charge(page)
    let call = try session.beginCall(.request(handle), size: params.size)
    call.attemptedOperation = session.failedOperation(
      "navigation.adopt", about: uri, by: handle.caller)
    call.work = .operation
    session.pages.adopt(
      page, at: .client(client.id), for: call.number, by: handle.caller, charge)
    session.perform([])
    return .later
  }
}
