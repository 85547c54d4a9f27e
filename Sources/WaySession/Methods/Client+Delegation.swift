import WayRPC
import WayValues

extension Client {
  /// The rights of a call of this client: its own, or, while it serves somebody's call and says so,
  /// that one's as far as its own go. Fails with -32602 where it serves no such call.
  func rights(for params: Params, in session: isolated Session) throws(CallError) -> Rights {
    guard let given = params[.onBehalfOf], !given.isNull else { return rights }
    guard let id = RequestID(given), let request = pending[id],
      let served = request.rights(in: session)
    else {
      throw .invalidParams(
        "params.onBehalfOf must be the id of a page.open, task.run or page.call that this client "
          + "has not answered yet")
    }
    return served.within(rights)
  }
}

extension PendingRequest {
  /// Those of the caller whose call it serves.
  fileprivate func rights(in session: isolated Session) -> Rights? {
    if let rights { return rights }
    guard let asker = asker as? Session, asker !== session else {
      return session.rights(of: purpose)
    }
    // It has answered, or its call has ended.
    if asker.loop !== session.loop { return nil }
    return asker.assumeIsolated { [purpose] in $0.rights(of: purpose) }
  }
}

extension Session {
  fileprivate func rights(of purpose: RequestPurpose) -> Rights? {
    switch purpose {
    case .open(let page): pages.call(openingOf: page).flatMap { call($0)?.rights }
    case .run(let number): call(number)?.rights
    case .push(let number): call(number)?.rights ?? ownRights
    case .close: nil
    }
  }
}
