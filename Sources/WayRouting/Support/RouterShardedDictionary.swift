/// A dictionary in parts: one that grows moves a part of what it has at a time, and one of which
/// there is a copy copies a part of it when it changes.
struct RouterShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var shards: [[Key: Value]]

  private static var shardCount: Int { 256 }

  /// An empty one.
  init() {
    shards = Array(repeating: [:], count: Self.shardCount)
  }

  subscript(key: Key) -> Value? {
    get { shards[Self.shard(of: key)][key] }
    set { shards[Self.shard(of: key)][key] = newValue }
  }

  /// All, in no order.
  var all: some Sequence<(key: Key, value: Value)> { shards.joined() }

  private static func shard(of key: Key) -> Int { key.hashValue & (shardCount - 1) }
}
