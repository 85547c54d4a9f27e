import WayRPC
import WayValues

extension Client {
  /// The rights of a call of this client. If `onBehalfOf` names a call that it serves, they are the
  /// rights of that call's caller, limited by the client's own. Throws -32602 if the client serves
  /// no such call, and 2403 if the rights of its caller have ended.
  func rights(for params: Params, in session: isolated Session) throws(CallError) -> Rights {
    guard let value = params[.onBehalfOf], !value.isNull else { return rights }
    guard let id = RequestID(value), let request = pending[id.comparedByValue],
      let served = request.rights(in: session)
    else {
      throw .invalidParams(
        "params.onBehalfOf must be the id of a page.open, task.run or page.call that this client "
          + "has not answered yet")
    }
    // A call with an idempotency key continues when its caller has left.
    if session.haveEnded(served) { throw .rightsEnded }
    return served.intersection(rights)
  }
}

extension PendingRequest {
  /// The rights of the caller whose call the request serves; `nil` if that call has ended, or cannot
  /// be found.
  func rights(in session: isolated Session) -> Rights? {
    if let rights { return rights }
    guard let requestingSession = requester as? Session, requestingSession !== session else {
      return session.rights(of: purpose)
    }
    // The request has its response already, or its call has ended.
    if requestingSession.loop !== session.loop { return nil }
    return requestingSession.assumeIsolated { [purpose] in $0.rights(of: purpose) }
  }
}

extension Session {
  /// Whether the rights of a caller that a request serves have ended. The caller may be a client of
  /// another server.
  func haveEnded(_ served: Rights) -> Bool {
    served.hasExpired(at: environment.now()) || environment.owner.isRevoked(served.caller)
  }

  fileprivate func rights(of purpose: RequestPurpose) -> Rights? {
    switch purpose {
    case .open(let page): pages.call(openingOf: page).flatMap { call($0)?.rights }
    case .run(let number): call(number)?.rights
    case .push(let number): call(number)?.rights ?? appRights
    case .close: nil
    }
  }
}
