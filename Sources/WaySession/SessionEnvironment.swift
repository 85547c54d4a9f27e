import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Who knows the sessions of one loop, and is told of them. Called on the loop.
protocol SessionOwner: AnyObject, Sendable {
  /// The session is over: its last member has left.
  func ended(_ session: String)
  /// The session tells an event of its own that Swift code listens to.
  func heard(_ event: BridgeEvent)
  /// The `event` messages that the app retains for a client, of those topics that are wanted,
  /// oldest first.
  func retained(
    for session: String, client: String, where isWanted: @Sendable (String) -> Bool
  ) -> [[UInt8]]
}

/// What a session has from where it lives.
struct SessionEnvironment: Sendable {
  let loop: any EventLoop
  let router: Router
  let limits: Limits
  let meter: CallMeter
  let observer: Observer
  /// The wall clock: milliseconds since 1970-01-01 UTC.
  let now: @Sendable () -> Int64
  let owner: any SessionOwner
}
