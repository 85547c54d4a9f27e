import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// A page of the result of `session.list`.
struct SessionListPage: Codable, Sendable {
  /// The entries, in the order of the ids.
  var entries: [Value] = []
  /// Whether there are more sessions after the last entry.
  var hasMore = false
}

// The sessions of this server in pages.
extension SessionServer {
  /// How many sessions of a loop are described at once.
  private static let chunkSize = 100

  /// Returns a page of the current sessions.
  func sessionList(_ query: SessionListQuery) async -> SessionListPage {
    let ids = await listedIDs(after: query.after, limit: query.limit + 1)
    let wanted = ids.prefix(query.limit)
    var builder = SessionListBuilder(query)
    var start = wanted.startIndex
    while start < wanted.endIndex {
      let chunk = Array(wanted[start..<min(start + Self.chunkSize, wanted.endIndex)])
      let infos = await gather { await $0.sessionInfos(of: chunk) }
      for info in infos.sorted(by: { $0.id < $1.id }) {
        guard builder.add(info) else { return builder.page }
      }
      start += chunk.count
    }
    builder.page.hasMore = ids.count > wanted.count
    return builder.page
  }

  /// Returns the first ids after a given one, in order. The cost grows with the number of sessions:
  /// do not call it on the thread of a loop.
  @concurrent
  private func listedIDs(after: String?, limit: Int) async -> [String] {
    let all = await gather { await $0.listedIDs() }
    let remaining = after.map { after in all.filter { $0 > after } } ?? all
    return Array(remaining.sorted().prefix(limit))
  }
}

extension LoopSessions {
  /// The ids of all sessions except those of HTTP requests.
  fileprivate func listedIDs() async -> [String] {
    var ids: [String] = []
    await forEachSession(.read) { session in
      if !session.isOfRequest { ids.append(session.id) }
    }
    return ids
  }
}

/// Builds a page of the result of `session.list` within its limits.
struct SessionListBuilder {
  var page = SessionListPage()
  private var remainingCount: Int
  private var remainingBytes: Int

  init(_ query: SessionListQuery) {
    remainingCount = query.limit
    remainingBytes = query.maxBytes
  }

  /// Adds an entry for a session. Returns false if there is no room for it.
  mutating func add(_ info: SessionInfo) -> Bool {
    // An entry that does not fit is the first one of the next page.
    add(info.listEntry(maxBytes: page.entries.isEmpty ? remainingBytes : .max))
  }

  /// Adds an entry. Returns false if there is no room for it.
  mutating func add(_ entry: Value) -> Bool {
    let size = entry.encodedSize + 1
    guard remainingCount > 0, size <= remainingBytes || page.entries.isEmpty else {
      page.hasMore = true
      return false
    }
    remainingCount -= 1
    remainingBytes -= size
    page.entries.append(entry)
    return true
  }
}

extension SessionInfo {
  /// Bytes of one entry, from which on pages are left out.
  private static let maxEntryBytes = 64 << 10

  /// The session's entry in the result of `session.list`. Pages that do not fit are left out, which
  /// `cut` reports.
  fileprivate func listEntry(maxBytes: Int) -> Value {
    var fields: ValueObject = ["session": .string(id)]
    fields["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      fields["groups"] = identity.groups.sortedValue
    }
    fields["clients"] = .array(clients.map(\.value))
    var room = min(maxBytes, Self.maxEntryBytes) - Value.object(fields).encodedSize
    var listed: [Value] = []
    for page in pages {
      let value: Value = [
        "id": .string(page.id), "uri": .string(page.uri), "host": .string(page.host),
      ]
      room -= value.encodedSize + 1
      if room < 0 { break }
      listed.append(value)
    }
    fields["pages"] = .array(listed)
    if listed.count < pages.count { fields["cut"] = true }
    return .object(fields)
  }
}

extension Value {
  /// The bytes of the value as JSON.
  fileprivate var encodedSize: Int {
    var writer = JSONWriter()
    do { try writer.write(self, maxDepth: JSON.maxStoredDepth) } catch { return 0 }
    return writer.count
  }
}
