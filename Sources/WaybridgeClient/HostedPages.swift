import WayNavigation
import WayRPC
import WayValues

/// The pages that this client shows, those that are opening included, in the order in which they
/// came.
struct HostedPages {
  struct Entry {
    let page: BridgeClient.Page
    /// nil of a page that the app shows, and closes, by other means.
    let host: (any PageHost)?
    /// The request that opens it, as long as it does.
    var opening: ServerRequest?
    /// Waits until the page is open, or is not going to be.
    var closer: CheckedContinuation<Bool, Never>?
  }

  /// More than a server's stack may hold.
  private static let limit = 4096

  private(set) var entries: [Entry] = []

  mutating func add(_ entry: Entry) throws(CallError) {
    guard entries.count < Self.limit else {
      throw CallError(.tooMany, "This client shows at most \(Self.limit) pages")
    }
    guard self[entry.page.id] == nil else {
      throw CallError(.conflict, "This client shows the page \(entry.page.id) already")
    }
    entries.append(entry)
  }

  subscript(id: String) -> Entry? {
    get { entries.first { $0.page.id == id } }
    set {
      guard let index = entries.firstIndex(where: { $0.page.id == id }) else { return }
      if let newValue { entries[index] = newValue } else { entries.remove(at: index) }
    }
  }

  mutating func remove(_ id: String) -> Entry? {
    defer { self[id] = nil }
    return self[id]
  }

  /// Takes out all.
  mutating func removeAll() -> [Entry] {
    defer { entries = [] }
    return entries
  }

  /// Whether a request is the one that opens a page.
  func isOpening(_ id: String, _ call: ServerRequest) -> Bool { self[id]?.opening === call }

  /// A page that is open.
  func shown(_ id: String) -> (page: BridgeClient.Page, host: any PageHost)? {
    guard let entry = self[id], entry.opening == nil, let host = entry.host else { return nil }
    return (entry.page, host)
  }
}
