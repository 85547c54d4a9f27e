import WayRPC
import WayTransport
import WayValues

/// Numbers the clients of one session.
typealias ClientID = Int

/// A member of a session: what outlives a connection, apart from the connection that carries it now.
///
/// Belongs to its ``Session``'s isolation.
final class Client {
  let id: ClientID
  /// The name that the wire uses.
  let name: String
  /// What the client proves itself with.
  let token: String
  /// The connection that carries this client; nil when it has none.
  var channel: (any MessageChannel)?
  /// The page that this client runs in.
  let page: String?
  /// What the client calls itself: `name`, `version`, `platform`, as far as it said.
  let software: ValueObject
  /// Calls of this client that wait for their answer.
  var calls: CallsInFlight<CallNumber>
  /// Requests to this client that wait for its answer.
  var pending: PendingCalls<PendingRequest>
  /// Of the request that is carried out now, where records of calls are asked for.
  var note: CallNote?
  /// The events that it wants.
  var subscriptions = Subscriptions()

  /// Calls that came as notifications and are not done yet: nobody waits for them, and they are bounded all the same.
  private var silentCalls: Set<CallNumber> = []

  init(
    id: ClientID, page: String?, software: ValueObject = [:], channel: any MessageChannel,
    limits: Limits
  ) {
    self.id = id
    self.page = page
    self.software = software
    self.channel = channel
    name = "c-" + Token.random(12)
    token = Token.random()
    calls = CallsInFlight(limit: limits.maxInFlight)
    pending = PendingCalls(limit: limits.maxInFlight * 4)
  }

  /// Keeps count of a call that came as a notification. At the limit it is refused, which nobody is told.
  func beginSilent(_ number: CallNumber, limit: Int) throws(RPCError) {
    guard silentCalls.count < limit else {
      throw RPCError(.tooMany, "At most \(limit) notifications may be under way")
    }
    silentCalls.insert(number)
  }

  /// Hands out the calls that came as notifications, oldest first.
  func drainSilent() -> [CallNumber] {
    defer { silentCalls = [] }
    return silentCalls.sorted()
  }

  func endSilent(_ number: CallNumber) {
    silentCalls.remove(number)
  }
}

/// A request that was sent to a client.
final class PendingRequest {
  let method: String
  let progress: ((Value) -> Void)?
  let completion: (Result<Value, RequestFailure>) -> Void
  var timeout: (any ScheduledWork)?

  init(
    method: String, progress: ((Value) -> Void)?,
    completion: @escaping (Result<Value, RequestFailure>) -> Void
  ) {
    self.method = method
    self.progress = progress
    self.completion = completion
  }
}
