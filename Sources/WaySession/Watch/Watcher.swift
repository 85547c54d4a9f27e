import WayValues

/// What of one loop is to be told to one client that watches. Confined to that loop.
struct InspectorSubscription {
  let wish: InspectorFilter
  let collector: InspectorFeed
  private var records: [Value] = []
  private var bytes = 0
  private var dropped = 0

  init(_ wish: InspectorFilter, _ collector: InspectorFeed) {
    self.wish = wish
    self.collector = collector
  }

  /// A loop keeps no more between two batches than one batch has.
  var isFull: Bool {
    records.count >= InspectorFeed.maxRecords || bytes >= InspectorFeed.maxBytes
  }

  mutating func drop() { dropped += 1 }

  mutating func add(_ record: InspectorRecord) {
    guard wish.wants(record.session, record.client) else { return }
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
