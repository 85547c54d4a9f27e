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
    let page = try params.required(.page)
    let method = try params.required(.method)
    let timeout = params.duration(.deadlineMs)
    let caller = handle.client.id
    let rights = try session.rights(of: handle.client, for: params)
    let target = try PageMethodTarget(of: page, for: rights, except: caller, in: session)
    let given = params.object(.params) ?? [:]
    let size = params.size
    let key = params.string(.key).map {
      IdempotentCalls.idempotencyKey($0, of: handle.client, in: session)
    }
    let begin: IdempotentCalls.CallStarter = { origin, session throws(CallError) in
      let call = try session.beginCall(origin, timeout: timeout, size: size)
      call.attemptedOperation = SessionFailedOperation(
        "page.call", about: page, by: rights.caller, in: session)
      return try target.run(method, given, rights, timeout, key: key, call, in: session)
    }
    guard let key else { return try begin(.request(handle), session) }
    let request = IdempotentRequest(method: "page.call \(method)", target: page, params: given)
    return try IdempotentCalls.perform(
      key.text, request, .invoke, timeout: timeout, params.value, handle, in: session, begin)
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
