import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// `navigation.…`: the session's stack.
enum NavigationMethods {
  private static let uri = Param(.uri, .string)
  private static let result = Param(.result, .object)
  private static let exts = Param(.exts, .object)

  static let all = [
    Method(
      "navigation.back",
      [
        Param(.count, .count), Param(.to, .string), Param(.before, .string), Param(.root, .bool),
        result, exts,
      ], back),
    Method("navigation.finish", [Param(.page, .string), result, exts], finish),
    Method("navigation.stack") { session, _, address throws(CallError) in
      let caller = address.caller
      return .value(
        session.pages.value(tabs: session.guide.snapshot.tabs.map(\.text), for: caller))
    },
    Method("navigation.contains", [uri], contains),
    Method("navigation.selectTab", [Param(.index, .count), uri], selectTab),
    Method(
      "navigation.adopt", [uri, Param(.params, .object), Param(.style, .string)], adopt),
  ]

  private static func back(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let target = try BackTarget(
      count: params.count(.count), to: params.string(.to), before: params.string(.before),
      root: params.bool(.root))
    let result = try params.result()
    let back = BackRequest(target, result: result)
    let attempt = FailedOperation(
      "navigation.back", about: params.string(.to) ?? params.string(.before), by: address.caller,
      in: session)
    return try change(
      back.operation(by: session.guide, for: address.caller), result, attempt, params, address,
      in: session)
  }

  private static func finish(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    guard let page = params.string(.page) ?? address.client.page else {
      throw .invalidParams(
        "params.page is missing: this client is not bound to a page of its own")
    }
    let result = try params.result()
    let attempt = FailedOperation(
      "navigation.finish", about: page, by: address.caller, in: session)
    return try change(
      .finish(page: page, result: result?.outcome ?? .finished()), result, attempt, params, address,
      in: session)
  }

  private static func change(
    _ operation: StackOperation, _ result: PageResult?, _ attempt: FailedOperation?,
    _ params: Params,
    _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    let exts = try params.exts(session.limits)
    let call = try session.begin(
      .request(address), size: Value.object(exts).size + (result?.size ?? 0))
    call.attempt = attempt
    session.change(operation, exts, by: address.caller, for: call)
    return .later
  }

  private static func contains(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let reference = session.guide.reference(
      try params.required(.uri), for: address.caller)
    guard let page = session.pages.stack.contains(reference),
      // That a page is there would tell its URI, which was asked for.
      !address.caller.isGuest || session.pages.isOwn(page, of: address.caller)
    else { return .value(.null) }
    return .value(.object(page.value))
  }

  private static func selectTab(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let wanted = try TabReference(
      index: params.count(.index), uri: params.string(.uri))
    let attempt = FailedOperation(
      "navigation.selectTab", about: params.string(.uri), by: address.caller, in: session)
    return try CallRunner.select(
      try session.guide.tab(wanted, for: address.caller), attempt, .invoke, address.client.rights,
      for: .request(address), in: session)
  }

  /// A page that was opened by other means comes on top of the stack; its host is the caller.
  private static func adopt(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let uri = try params.required(.uri)
    let style = try params.style() ?? .push
    guard style == .push || style == .present else {
      throw .invalidParams("params.style: a page is adopted with \"push\" or \"present\"")
    }
    let said = try session.guide.look(
      up: uri, params.object(.params) ?? [:], for: address.caller)
    let client = address.client
    try client.rights.check(.adopt, said)
    let match: RouteMatch? = if case .match(let match) = said { match } else { nil }
    let page = Page(
      id: session.pages.makePageID(), uri: said.uri.text, route: match?.route.name,
      pathParams: match?.pathParams ?? [:], style: style, params: said.params, exts: [:],
      host: client.name)
    let charge = try session.pages.charge(page)
    let call = try session.begin(.request(address), size: params.size)
    call.attempt = FailedOperation("navigation.adopt", about: uri, by: address.caller, in: session)
    call.work = .operation
    session.pages.adopt(
      page, at: .client(client.id), for: call.number, by: address.caller, charge)
    session.act([])
    return .later
  }
}
