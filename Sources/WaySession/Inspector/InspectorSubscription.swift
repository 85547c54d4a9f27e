import WayValues

/// The subscription of one inspecting client on one loop, with the records that wait for the next
/// batch. Confined to that loop.
struct InspectorSubscription {
  let filter: InspectorFilter
  let feed: InspectorFeed
  private var records: [Value] = []
  private var bytes = 0
  private var droppedCount = 0

  init(_ filter: InspectorFilter, _ feed: InspectorFeed) {
    self.filter = filter
    self.feed = feed
  }

  /// Whether it holds as many records as one batch may have.
  var isFull: Bool {
    records.count >= InspectorFeed.maxRecords || bytes >= InspectorFeed.maxBytes
  }

  mutating func countDropped() { droppedCount += 1 }

  mutating func add(_ record: InspectorRecord) {
    guard filter.matches(record.session, record.client) else { return }
    guard !isFull else { return countDropped() }
    let value = record.value(messages: filter.maxMessageBytes)
    records.append(value)
    bytes += value.size
  }

  /// Moves the records to the feed.
  mutating func flush() {
    guard !records.isEmpty || droppedCount > 0 else { return }
    feed.enqueue(records, bytes: bytes, dropped: droppedCount)
    records = []
    (bytes, droppedCount) = (0, 0)
  }
}
