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
  private var watchers: [InspectorSubscription] = []
  /// The last records.
  private(set) var recent = RecordRing()
  /// By the names of routes; what has come to no declared route under the empty one.
  private(set) var routes: [String: InspectedRouteMeter] = [:]
  private static let maxRoutes = 20_000
  /// Since when calls are counted by routes, milliseconds since 1970-01-01 UTC; nil for not yet.
  private(set) var since: Int64?
  /// One moment by both clocks.
  private var origin: (wall: Int64, loop: UInt64) = (0, 0)
  private var timer: (any ScheduledWork)?
  /// Calls that have begun to wait, and of which nobody was told yet.
  private var begun: [Begun] = []
  private static let maxBegun = 500
  /// What clients were asked, kept until they answer.
  private let kept = RetainedBytes(limit: 16 << 20)

  private struct Begun {
    let note: CallTrace
    let session: String
    let client: String
    let record: (CallTrace) -> InspectorRecord
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
  func begin(_ watcher: InspectorSubscription) {
    if let place = watchers.firstIndex(where: { $0.wish.client == watcher.wish.client }) {
      watchers[place].flush()
      watchers[place] = watcher
    } else {
      watchers.append(watcher)
    }
    guard !isOn else { return }
    isOn = true
    notesCalls = true
    origin = (now(), loop.nanoseconds)
    since = since ?? origin.wall
  }

  /// What collects for a client; nil for one that does not watch.
  func collector(of client: String) -> InspectorFeed? {
    watchers.first { $0.wish.client == client }?.collector
  }

  /// A client does not watch any more what this collects.
  func end(_ collector: InspectorFeed) {
    watchers.removeAll { $0.collector === collector }
    guard watchers.isEmpty, isOn else { return }
    isOn = false
    notesCalls = notesAlways
    timer?.cancel()
    timer = nil
    begun = []
    recent = RecordRing()
  }

  /// A moment of the loop's clock, as records have it: milliseconds since 1970-01-01 UTC.
  func at(_ nanoseconds: UInt64) -> Value {
    let passed = Int64(bitPattern: nanoseconds &- origin.loop)
    return Value(Double(origin.wall) + (Double(passed) / 1e6 * 1000).rounded() / 1000)
  }

  /// Whether anybody takes one more record; by whoever wants it and has no room, it is counted as
  /// dropped where nobody does.
  private func makesRoom(for session: String, _ client: String?) -> Bool {
    if watchers.contains(where: { !$0.isFull }) { return true }
    drop(session, client)
    return false
  }

  private func drop(_ session: String, _ client: String?) {
    for place in watchers.indices where watchers[place].wish.wants(session, client) {
      watchers[place].drop()
    }
  }

  /// A call of a route has ended.
  func count(_ route: String, code: Int, nanoseconds: UInt64) {
    guard routes.count < Self.maxRoutes || routes[route] != nil else { return }
    routes[route, default: InspectedRouteMeter()].record(code: code, nanoseconds: nanoseconds)
  }

  /// Tells a record about a session, and about a client of it, which is made where somebody has room
  /// for it.
  func tell(_ session: String, _ client: String?, _ record: @autoclosure () -> InspectorRecord) {
    guard isOn, makesRoom(for: session, client) else { return }
    let record = record()
    recent.add(record)
    for place in watchers.indices { watchers[place].add(record) }
    schedule()
  }

  /// A call of a client waits; it is told where it still does when the next batch is due.
  func began(
    _ note: CallTrace, _ session: String, _ client: String,
    _ record: @escaping (CallTrace) -> InspectorRecord
  ) {
    guard begun.count < Self.maxBegun else { return drop(session, client) }
    begun.append(Begun(note: note, session: session, client: client, record: record))
    schedule()
  }

  /// What a client was asked, to be told with its answer.
  func note(_ id: RequestID, _ params: Value, for call: CallNumber?) -> RequestTrace {
    RequestTrace(id, params, bytes: params.jsonSize, for: call, at: loop.nanoseconds, in: kept)
  }

  private func schedule() {
    guard timer == nil else { return }
    timer = loop.schedule(after: InspectorFeed.interval) { [weak self] in
      guard let self else { return }
      timer = nil
      flush()
    }
  }

  private func flush() {
    let waiting = begun.filter { !$0.note.isEnded }
    begun = []
    for call in waiting { tell(call.session, call.client, call.record(call.note)) }
    timer?.cancel()
    timer = nil
    for place in watchers.indices { watchers[place].flush() }
  }
}
