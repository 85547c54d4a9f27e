import WayNavigation
import WayRPC
import WayValues

/// The meaning of a `page.resume` for the host of the page.
enum PageResumption: Sendable {
  /// The page is on top again.
  case resume
  /// The page has also got another URI, parameters or extensions.
  case update
}

/// The pages that this client shows or is opening, in the order in which they were added.
struct HostedPageRegistry {
  struct RegisteredPage {
    fileprivate(set) var page: BridgeClient.HostedPage
    /// The host; nil for a page that the app shows and closes by other means.
    let host: (any PageHost)?
    /// The request that opens the page, until the page is open.
    var openRequest: ServerRequest?
    /// Resumed when the page is open, or will not open.
    var openContinuation: CheckedContinuation<Bool, Never>?
    /// The `page.resume` that arrived while the page was opening; its host is called once it is open.
    fileprivate(set) var resumption: PageResumption?

    init(
      page: BridgeClient.HostedPage, host: (any PageHost)?, openRequest: ServerRequest? = nil
    ) {
      self.page = page
      self.host = host
      self.openRequest = openRequest
    }
  }

  /// More pages than a server's stack may hold.
  private static let maxPages = 4096

  private(set) var entries: [RegisteredPage] = []

  mutating func add(_ entry: RegisteredPage) throws(CallError) {
    guard entries.count < Self.maxPages else {
      throw CallError(.tooMany, "This client can show at most \(Self.maxPages) pages")
    }
    guard self[entry.page.id] == nil else {
      throw CallError(.conflict, "This client already shows the page \(entry.page.id)")
    }
    entries.append(entry)
  }

  subscript(id: String) -> RegisteredPage? {
    get { entries.first { $0.page.id == id } }
    set {
      guard let index = entries.firstIndex(where: { $0.page.id == id }) else { return }
      if let newValue { entries[index] = newValue } else { entries.remove(at: index) }
    }
  }

  mutating func remove(_ id: String) -> RegisteredPage? {
    defer { self[id] = nil }
    return self[id]
  }

  /// Updates a page with the params of `page.resume`. Returns nil if the page does not exist or is
  /// still opening.
  mutating func resume(_ id: String, _ params: Value) -> PageResumption? {
    guard let index = entries.firstIndex(where: { $0.page.id == id }) else { return nil }
    let members = ["uri", "params", "exts"]
    let isUpdate = members.contains { params[$0]?.isNull == false }
    if isUpdate { entries[index].page = entries[index].page.updated(with: params) }
    let resumption: PageResumption = isUpdate ? .update : .resume
    guard entries[index].openRequest != nil else { return resumption }
    if entries[index].resumption != .update { entries[index].resumption = resumption }
    return nil
  }

  /// Removes and returns all pages.
  mutating func removeAll() -> [RegisteredPage] {
    defer { entries = [] }
    return entries
  }

  /// Returns whether a request is the one that opens a page.
  func isOpening(_ id: String, _ call: ServerRequest) -> Bool { self[id]?.openRequest === call }

  /// Returns a page that is open.
  func shownPage(_ id: String) -> (page: BridgeClient.HostedPage, host: any PageHost)? {
    guard let entry = self[id], entry.openRequest == nil, let host = entry.host else { return nil }
    return (entry.page, host)
  }
}
