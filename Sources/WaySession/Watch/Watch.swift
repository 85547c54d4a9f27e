import WayRPC
import WayTransport
import WayValues

/// What happens on one loop, for who inspects the server. Where nobody watches it costs who calls
/// one look at a flag; nothing is kept then but what routes came to while somebody did.
///
/// Confined to its loop; the flags are asked with every call, and call nobody.
final class Watch: @unchecked Sendable {
  /// What it wants of the stream of happenings.
  private static let all: Happening.Kinds = [.session, .page, .host]

  private let loop: any EventLoop
  private let now: @Sendable () -> Int64
  private let notesAlways: Bool
  @exclusivity(unchecked) private(set) var isOn = false
  /// Whether calls are to have notes.
  @exclusivity(unchecked) private(set) var notesCalls: Bool
  private var watchers: [Watcher] = []
  /// The last records.
  private(set) var recent = RecordRing()
  /// By the names of routes; what has come to no declared route under the empty one.
  private(set) var routes: [String: RouteMeter] = [:]
  private static let maxRoutes = 20_000
  /// Since when calls are counted by routes, milliseconds since 1970-01-01 UTC; nil for not yet.
  private(set) var since: Int64?
  /// One moment by both clocks.
  private var origin: (wall: Int64, loop: UInt64) = (0, 0)
  private var timer: (any ScheduledWork)?
  /// Calls that have begun to wait, and of which nobody was told yet.
  private var begun: [Begun] = []
  private static let maxBegun = 500
  /// Requests to clients that are not answered.
  private var asks: [AskKey: Ask] = [:]
  private static let maxAsks = 4096

  private struct Begun {
    let note: CallNote
    let record: (CallNote) -> WatchRecord
  }

  private struct AskKey: Hashable {
    let client: String
    let id: RequestID
  }

  /// A request to a client.
  struct Ask {
    let session: String
    let client: String
    let id: RequestID
    let method: String
    let params: Value
    let call: Int?
    let start: UInt64
  }

  /// `notesAlways` is whether somebody else wants notes of calls.
  init(on loop: any EventLoop, now: @escaping @Sendable () -> Int64, notesAlways: Bool) {
    self.loop = loop
    self.now = now
    self.notesAlways = notesAlways
    notesCalls = notesAlways
  }

  /// What it wants of happenings now.
  var kinds: Happening.Kinds { isOn ? Self.all : [] }

  /// A client watches from now on; one that did so already does it by another wish.
  func begin(_ watcher: Watcher) {
    end(watcher.wish.client)
    watchers.append(watcher)
    isOn = true
    notesCalls = true
    origin = (now(), loop.nanoseconds)
    since = since ?? origin.wall
  }

  /// A client does not watch any more.
  func end(_ client: String) {
    watchers.removeAll { $0.wish.client == client }
    guard watchers.isEmpty else { return }
    isOn = false
    notesCalls = notesAlways
    timer?.cancel()
    timer = nil
    begun = []
    asks = [:]
    recent = RecordRing()
  }

  /// A moment of the loop's clock, as records have it: milliseconds since 1970-01-01 UTC.
  func at(_ nanoseconds: UInt64) -> Value {
    let passed = Int64(bitPattern: nanoseconds &- origin.loop)
    return Value(Double(origin.wall) + (Double(passed) / 1e6 * 1000).rounded() / 1000)
  }

  /// Whether anybody takes one more record; where nobody does, it is counted as dropped.
  private func makesRoom() -> Bool {
    if watchers.contains(where: { !$0.isFull }) { return true }
    for place in watchers.indices { watchers[place].drop() }
    return false
  }

  /// A call of a route has ended.
  func count(_ route: String, code: Int, nanoseconds: UInt64) {
    guard routes.count < Self.maxRoutes || routes[route] != nil else { return }
    routes[route, default: RouteMeter()].record(code: code, nanoseconds: nanoseconds)
  }

  /// Tells a record, which is made where somebody takes it.
  func tell(_ record: @autoclosure () -> WatchRecord) {
    guard isOn, makesRoom() else { return }
    let record = record()
    recent.add(record)
    for place in watchers.indices { watchers[place].add(record) }
    schedule()
  }

  /// A call waits; it is told where it still does when the next batch is due.
  func began(_ note: CallNote, _ record: @escaping (CallNote) -> WatchRecord) {
    guard begun.count < Self.maxBegun else { return }
    begun.append(Begun(note: note, record: record))
    schedule()
  }

  /// A client was asked.
  func asked(_ ask: Ask) {
    guard asks.count < Self.maxAsks else { return }
    asks[AskKey(client: ask.client, id: ask.id)] = ask
  }

  /// What a client was asked that answers now; nil where that was not seen.
  func answered(_ client: String, _ id: RequestID) -> Ask? {
    asks.removeValue(forKey: AskKey(client: client, id: id))
  }

  private func schedule() {
    guard timer == nil else { return }
    timer = loop.schedule(after: WatchCollector.interval) { [weak self] in
      guard let self else { return }
      timer = nil
      flush()
    }
  }

  private func flush() {
    let waiting = begun.filter { !$0.note.isEnded }
    begun = []
    for call in waiting { tell(call.record(call.note)) }
    timer?.cancel()
    timer = nil
    for place in watchers.indices { watchers[place].flush() }
  }
}
