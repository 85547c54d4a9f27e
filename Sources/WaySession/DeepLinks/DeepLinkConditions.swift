import WayPatterns
import WayRouting
import WayValues

/// What a session knows when it decides about its deep links. Confined to the session's loop.
struct DeepLinkConditions {
  let session: String
  /// The identity of the session's first client.
  let identity: Identity
  let resolver: SessionDestinationResolver
  let clients: SessionClients
  let gates: SessionGates
  let state: SessionState
  /// Whether the session continues after a restart, or at another server.
  let isPersisted: Bool
  /// In milliseconds since 1970-01-01 UTC.
  let now: Int64

  /// Whether links may be opened in the session. Those of a session that continues elsewhere are
  /// left to its next owner.
  var opensLinks: Bool { !state.isClosing && !(state.isDraining && isPersisted) }

  /// Whether a deep link need not wait any longer: it can be opened, or has failed permanently.
  ///
  /// A session without any connected host has only begun, or its app is away. A URI that has no host
  /// yet may be one that a client is about to register.
  func isDue(_ link: DeepLink, of sender: Caller) -> Bool {
    guard isDue(link.uri, link.params) else { return false }
    // The page of a gate may have another host.
    guard let gate = closedGate(of: link, by: sender) else { return true }
    return isDue(gate.target.text, gate.params)
  }

  private func isDue(_ uri: String, _ params: ValueObject) -> Bool {
    do {
      let destination = try resolver.destination(of: uri, params, checking: false)
      if isAbsent(destination) { return false }
      return destination.isHandled || hasConnectedHost
    } catch {
      switch error.protocolCode {
      case .hostAbsent: return false
      case .noRoute: return hasConnectedHost
      default: return true
      }
    }
  }

  /// Whether a deep link can be opened in the session now.
  func canOpen(_ link: DeepLink) -> Bool {
    guard let destination = try? resolver.destination(of: link.uri, link.params, checking: false)
    else { return false }
    return destination.isHandled && !isAbsent(destination)
  }

  /// Checks whether the sender of a link may still deliver it to the session, and may open its page
  /// and each page below it. Throws 2403.
  func check(_ link: DeepLink, by rights: Rights) throws(CallError) {
    try rights.checkValidity(at: now)
    // A client reaches its own session, and those of its user. Others need a push.
    let caller = rights.caller
    if !caller.clientSession.isSameUTF8(as: session) {
      let isOfUser = caller.identity.user != nil && identity.hasUser(of: caller.identity)
      if !isOfUser { try rights.authorize("session.push", .admin) }
    }
    let parents = (try? resolver.parents(of: link, for: rights.caller)) ?? []
    let targets = [(link.uri, link.params)] + parents.map { ($0.text, [:]) }
    for (uri, params) in targets {
      if let resolution = try? resolver.resolve(uri, params, checking: false, for: rights.caller) {
        try rights.check(.deliver, resolution)
      }
    }
  }

  /// Returns the first gate that a link has to pass before it and the pages below it are opened; `nil`
  /// if all gates are open.
  func closedGate(of link: DeepLink, by caller: Caller) -> Gate? {
    guard !resolver.snapshot.gates.isEmpty else { return nil }
    let parents = (try? resolver.parents(of: link, for: caller)) ?? []
    for (uri, params) in parents.map({ ($0.text, [:]) }) + [(link.uri, link.params)] {
      guard let resolution = try? resolver.resolve(uri, params, checking: false, for: caller),
        let chain = resolver.snapshot.interceptors(of: resolution)
      else { continue }
      if let gate = gates.firstClosed(of: chain.gates) { return gate }
    }
    return nil
  }

  /// Returns the client of the session that hosts a URI; nil if it is none.
  func host(of uri: String, _ params: ValueObject) -> ClientID? {
    let destination = try? resolver.destination(of: uri, params, checking: false)
    guard case .hosted(let host, _)? = destination?.kind, host.client > 0 else { return nil }
    return host.client
  }

  /// Whether a client of the session is gone or has lost its connection.
  func isLost(_ client: ClientID) -> Bool { clients[client]?.isDisconnected != false }

  /// Whether the host of a destination is a client of the session without a connection. The session
  /// learns when it is back or gone.
  private func isAbsent(_ destination: SessionDestination) -> Bool {
    guard case .hosted(let host, _) = destination.kind, host.client > 0 else { return false }
    return resolver.isAbsent(host)
  }

  private var hasConnectedHost: Bool {
    clients.all.contains { client in
      !client.isDisconnected && !resolver.hosts.definitions(of: client.id).isEmpty
    }
  }
}
