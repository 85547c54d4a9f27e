/// A dictionary in shards. One that grows moves only a part of its entries at a time, and one that
/// is shared copies only a part when it changes.
struct RouterShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var shards: [[Key: Value]]

  private static var shardCount: Int { 256 }

  /// Creates an empty dictionary.
  init() {
    shards = Array(repeating: [:], count: Self.shardCount)
  }

  subscript(key: Key) -> Value? {
    get { shards[Self.shard(of: key)][key] }
    set { shards[Self.shard(of: key)][key] = newValue }
  }

  /// All entries, in no order.
  var all: some Sequence<(key: Key, value: Value)> { shards.joined() }

  private static func shard(of key: Key) -> Int { key.hashValue & (shardCount - 1) }
}
