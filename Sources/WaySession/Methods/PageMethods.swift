import WayNavigation
import WayValues

/// `page.…`: methods of pages, which who runs in a page, or shows it, answers.
enum PageMethods {
  static let all = [
    Method(
      "page.call",
      [
        Param(.page, .string), Param(.method, .string), Param(.params, .object),
        Param(.deadlineMs, .count), Param(.onBehalfOf, .any), Param(.key, .string),
      ], call),
    Method("page.sync", [Param(.pages, .list), Param(.failed, .list)], sync),
  ]

  private static func call(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let page = try params.required(.page)
    let method = try params.required(.method)
    let deadline = params.time(.deadlineMs)
    let caller = address.client.id
    let rights = try address.client.rights(for: params, in: session)
    let receiver = try PageMethodTarget(of: page, for: rights, except: caller, in: session)
    let given = params.object(.params) ?? [:]
    let size = params.size
    let key = params.string(.key).map { KeyedCalls.key($0, of: address.client, in: session) }
    let begin: KeyedCalls.Beginning = { asker, session throws(CallError) in
      let call = try session.begin(asker, deadline: deadline, size: size)
      call.attempt = FailedOperation("page.call", about: page, by: rights.caller, in: session)
      return try receiver.run(method, given, rights, deadline, key: key, call, in: session)
    }
    guard let key else { return try begin(.request(address), session) }
    let request = KeyedRequest(method: "page.call \(method)", target: page, params: given)
    return try KeyedCalls.take(
      key.text, request, .invoke, deadline: deadline, params.value, address, in: session, begin)
  }

  /// Compares the pages that a host shows with those of the stack that it is to show.
  private static func sync(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let client = address.client
    let limit = NavigationStack.maxPages
    guard let shown = try params.strings(.pages, limit: limit) else {
      throw .invalidParams("params.pages is missing: it must be an array of the ids of pages")
    }
    let failed = Set(try params.strings(.failed, limit: limit) ?? [])
    if !failed.isEmpty { session.act(session.pages.notShown(failed, by: client.name)) }
    let own = session.pages.shown(by: client.id)
    let missing = own.filter { !shown.contains($0.page.id) }
    let gone = shown.filter { id in !own.contains { $0.page.id == id } }
    return .value([
      "open": .list(missing.map(\.params)), "closed": .list(gone.map(Value.string)),
    ])
  }
}
