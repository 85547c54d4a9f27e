import WayValues

/// `page.…`: methods of pages, which who runs in a page, or shows it, answers.
enum PageMethods {
  static let all = [
    Method(
      "page.call",
      [
        Param(.page, .string), Param(.method, .string), Param(.params, .object),
        Param(.deadlineMs, .count), Param(.onBehalfOf, .any),
      ], call)
  ]

  private static func call(
    _ session: isolated Session, _ params: Params, _ address: ReplyAddress
  ) throws(CallError) -> Reply {
    let page = try params.required(.page)
    let method = try params.required(.method)
    let deadline = params.time(.deadlineMs)
    let caller = address.client.id
    let rights = try address.client.rights(for: params, in: session)
    let receiver = try PageReceiver(of: page, for: rights, except: caller, in: session)
    let call = try session.begin(
      .request(address), deadline: deadline, size: params.size)
    call.attempt = Attempt("page.call", about: page, by: rights.caller, in: session)
    return try receiver.run(
      method, params.object(.params) ?? [:], rights, deadline, call, in: session)
  }
}
