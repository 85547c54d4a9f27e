import WayNavigation
import WayValues

/// `page.…`: methods of pages. The client that runs in a page responds to them, or else its host.
enum PageMethods {
  static let all = [
    SessionMethod(
      "page.call",
      [
        Param(.page, .string), Param(.method, .string), Param(.params, .object),
        Param(.deadlineMs, .count), Param(.onBehalfOf, .any), Param(.key, .string),
      ], call),
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
    let own = session.pages.entries(of: client.id)
    let missing = own.filter { !shown.contains($0.page.id) }
    let closed = shown.filter { id in !own.contains { $0.page.id == id } }
    return .value([
      "open": .array(missing.map(\.params)), "closed": .array(closed.map(Value.string)),
    ])
  }
}
