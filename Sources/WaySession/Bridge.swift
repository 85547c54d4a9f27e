import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Takes connections and knows the sessions, all of them on one loop.
package actor Bridge: ChannelAcceptor {
  /// The subprotocol of clients that open a session; without it a connection speaks plain JSON-RPC.
  package static let subprotocol = "waybridge.v1"

  nonisolated let loop: any EventLoop
  nonisolated let settings: BridgeSettings
  private nonisolated let executor: UnownedSerialExecutor
  package nonisolated let meter: CallMeter
  private(set) var sessions: [String: Session] = [:]
  var audiences = AudienceIndex()
  var retainedEvents = RetainedEvents()
  var listeners = EventListeners()
  var expectedLinks: [ExpectedLink] = []

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }

  package init(loop: any EventLoop, settings: BridgeSettings) {
    self.loop = loop
    self.settings = settings
    meter = CallMeter(loop: loop, timed: settings.observer.timed)
    executor = loop.asUnownedSerialExecutor()
  }

  package nonisolated func accept(
    _ channel: any MessageChannel, subprotocol: String?
  ) -> any MessageReceiver {
    let connection = Connection(channel, bridge: self, isPlain: subprotocol == nil)
    connection.begin()
    return connection
  }

  /// `leaving` is how many sessions the caller is about to end.
  func makeSession(_ identity: Identity, leaving: Int = 0) throws(RPCError) -> Session {
    guard sessions.count - leaving < settings.limits.maxSessions else {
      throw RPCError(
        .unavailable,
        "The server has \(settings.limits.maxSessions) sessions, which is its limit; try again later"
      )
    }
    let session = Session(
      id: "s-" + Token.random(12), bridge: self, heardBySwift: listeners.families)
    sessions[session.id] = session
    audiences.add(session.id, identity)
    deliverExpected(to: session)
    return session
  }

  /// The session that a join token opens.
  func session(_ id: String, joinToken: String) throws(RPCError) -> Session {
    // An ended session stays known until its last connection is closed.
    guard let session = sessions[id], Token.areEqual(session.joinToken, joinToken),
      !session.assumeIsolated({ $0.hasEnded })
    else {
      throw RPCError(
        .notAuthenticated,
        "params.join: there is no such session, or the token is not its joinToken")
    }
    return session
  }

  func remove(_ session: String) {
    sessions.removeValue(forKey: session)
    audiences.remove(session)
    retainedEvents.forget(session: session)
  }

  /// How many sessions there are now.
  package var sessionCount: Int { sessions.count }
}
