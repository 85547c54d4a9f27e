import WayValues

/// What of one loop is to be told to one client that watches. Confined to that loop.
struct Watcher {
  /// What a loop keeps between two batches.
  private static let maxRecords = 500
  private static let maxBytes = 1 << 20

  let wish: WatchWish
  let collector: WatchCollector
  private var records: [Value] = []
  private var bytes = 0
  private var dropped = 0

  init(_ wish: WatchWish, _ collector: WatchCollector) {
    self.wish = wish
    self.collector = collector
  }

  var isFull: Bool { records.count >= Self.maxRecords || bytes >= Self.maxBytes }

  mutating func drop() { dropped += 1 }

  mutating func add(_ record: WatchRecord) {
    guard wish.wants(record) else { return }
    guard !isFull else { return drop() }
    let value = record.value(messages: wish.messages)
    records.append(value)
    bytes += value.size
  }

  /// Hands on what there is.
  mutating func flush() {
    guard !records.isEmpty || dropped > 0 else { return }
    collector.take(records, bytes: bytes, dropped: dropped)
    records = []
    (bytes, dropped) = (0, 0)
  }
}
