import WayRPC
import WayRouting
import WayValues

extension Session {
  /// The rights of a call of a client. If `onBehalfOf` names a call that the client serves, they are
  /// the rights of that call's caller, limited by the client's own. Throws -32602 if the client serves
  /// no such call, and 2403 if the rights of its caller have ended.
  func rights(of client: Client, for params: Params) throws(CallError) -> Rights {
    guard let value = params[.onBehalfOf], !value.isNull else { return client.rights }
    guard let id = RequestID(value), let request = client.pending[id.comparedByValue],
      let served = rights(servedBy: request)
    else {
      throw .invalidParams(
        "params.onBehalfOf must be the id of a page.open, task.run or page.call that this client "
          + "has not answered yet")
    }
    // A call with an idempotency key continues when its caller has left.
    if haveEnded(served) { throw .rightsEnded }
    return served.intersection(client.rights)
  }

  /// The rights of the caller whose call a request serves; `nil` if that call has ended, or cannot be
  /// found.
  func rights(servedBy request: PendingRequest) -> Rights? {
    if let rights = request.rights { return rights }
    guard let requester = request.requester as? Session, requester !== self else {
      return rights(of: request.purpose)
    }
    // The request has its response already, or its call has ended.
    if requester.loop !== loop { return nil }
    return requester.assumeIsolated { [purpose = request.purpose] in $0.rights(of: purpose) }
  }

  /// The rights of a caller on another server, whose call a client of this session serves.
  func rights(of caller: PeerCaller) -> Rights {
    switch caller {
    case .app: appRights
    case .client(let client): Rights(client.caller, environment.policy)
    case .limited: .none
    }
  }

  /// Whether the rights of a caller that a request serves have ended. The caller may be a client of
  /// another server.
  func haveEnded(_ served: Rights) -> Bool {
    served.hasExpired(at: environment.now()) || environment.owner.isRevoked(served.caller)
  }

  private func rights(of purpose: RequestPurpose) -> Rights? {
    switch purpose {
    case .open(let page): pages.call(openingOf: page).flatMap { call($0)?.rights }
    case .run(let number): call(number)?.rights
    case .push(let number): call(number)?.rights ?? appRights
    case .close, .leave: nil
    }
  }
}
