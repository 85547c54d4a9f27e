import Logging
import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// The stored form of a page without its place on the stack, which changes more often.
struct PageRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case uri
    case calledURI = "called"
    case route, pathParams, kind, params, exts, host
  }

  private let uri: String
  private let calledURI: String?
  private let route: String?
  private let pathParams: ValueObject
  private let kind: String
  private let params: ValueObject
  private let exts: ValueObject
  private let host: String

  init(_ page: Page) {
    uri = page.uri
    calledURI = page.otherCalledURI
    route = page.route
    pathParams = page.pathParams
    kind = page.kind
    params = page.params
    exts = page.exts
    host = page.host
  }

  /// Returns the page at its place.
  func page(at place: PagePlace) -> Page {
    Page(
      id: place.id, uri: uri, calledURI: calledURI, route: route, pathParams: pathParams,
      kind: kind,
      style: place.style, params: params, exts: exts, host: host, level: place.level,
      hasStack: place.hasStack)
  }
}

/// The place of a page on the stack.
struct PagePlace: Codable {
  let id: String
  fileprivate let level: Int
  fileprivate let hasStack: Bool
  fileprivate let style: Style

  init(_ page: Page) {
    id = page.id
    level = page.level
    hasStack = page.hasStack
    style = page.style
  }
}

/// The stored form of a page on the stack.
typealias OpenPageRecord = RecordInContext<PageRecord, OpenPageContext>

/// The host and the opener of a page on the stack.
struct OpenPageContext: Codable {
  private enum CodingKeys: String, CodingKey {
    case caller, opener, result, guards
    case hostClient = "presenter"
    case chosenHost = "chosen"
  }

  let caller: CallerRecord
  /// The page of the opener.
  let opener: String?
  /// The client that shows the page; `nil` for a page of Swift code.
  let hostClient: ClientID?
  let chosenHost: ChosenHostRecord?
  /// The result that the page has set before it closes.
  private let result: Value?
  private let guards: [PageGuardRecord]?

  fileprivate init(_ entry: StackEntry, _ pageGuards: [PageGuard]) {
    caller = CallerRecord(entry.caller)
    opener = entry.opener
    hostClient = if case .client(let client) = entry.hostReference { client } else { nil }
    chosenHost = entry.chosenHost.map(ChosenHostRecord.init)
    result = entry.earlyResult?.value
    let records = pageGuards.compactMap(PageGuardRecord.init)
    guards = records.isEmpty ? nil : records
  }

  fileprivate func earlyResult() throws(RecordDecodingError) -> PageResult? {
    guard let result else { return nil }
    do { return try PageResult(result, path: "result") } catch {
      throw RecordDecodingError("a result of a page is invalid: \(error.message)")
    }
  }

  fileprivate var pageGuards: [PageGuard] { (guards ?? []).map(\.pageGuard) }
}

extension OpenPageRecord {
  /// The record of a page with these guards.
  init(_ entry: StackEntry, _ guards: [PageGuard]) {
    self.init(PageRecord(entry.page), in: OpenPageContext(entry, guards))
  }
}

/// The stored form of a client's guard of a page.
private struct PageGuardRecord: Codable {
  private let client: ClientID
  private let timeoutMs: Int64

  init?(_ pageGuard: PageGuard) {
    guard case .client(let client) = pageGuard.owner else { return nil }
    self.client = client
    timeoutMs = Int64(pageGuard.timeout / .milliseconds(1))
  }

  var pageGuard: PageGuard {
    PageGuard(owner: .client(client), timeout: .milliseconds(timeoutMs))
  }
}

/// The stored form of the host that shows a page.
struct ChosenHostRecord: Codable {
  private let client: ClientID
  private let definition: SessionHostDefinition
  private let captures: ValueObject
  private let pattern: String?

  init(_ chosen: ChosenHost) {
    client = chosen.client
    definition = chosen.host.definition
    captures = chosen.captures
    pattern = chosen.pattern
  }

  /// The host; `nil` if its definition is that of an interceptor.
  var chosenHost: ChosenHost? {
    SessionHosts.RegisteredHost(definition: definition, client: client).map {
      ChosenHost($0, pattern: pattern, captures: captures)
    }
  }
}

/// The stored form of the stack: its pages by id, and its tabs.
struct StackRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case pages, selected
    case backgroundTabs = "beside"
  }

  private struct TabRecord: Codable {
    let tab: Int
    let pages: [PagePlace]
  }

  private let pages: [PagePlace]
  private let selected: Int?
  private let backgroundTabs: [TabRecord]?

  init(_ stack: NavigationStack) {
    pages = stack.pages.map(PagePlace.init)
    selected = stack.selected
    backgroundTabs =
      stack.backgroundTabs.isEmpty
      ? nil
      : stack.backgroundTabs.map { TabRecord(tab: $0.tab, pages: $0.pages.map(PagePlace.init)) }
  }

  /// Restores the pages that were on the stack before a restart; `records` are those by id. Pages of
  /// Swift code belong to the previous server, so they have to end. The loggers of their callers
  /// extend `logger`.
  func restore(
    _ records: [String: OpenPageRecord], to pages: inout Pages, in session: String,
    _ logger: Logger?
  ) throws(RecordDecodingError) {
    let stack = try stack(of: records)
    for page in stack.allPages {
      guard let context = records[page.id]?.context else { continue }
      let charge: ByteBudget.Charge
      do { charge = try pages.charge(page) } catch {
        throw RecordDecodingError("the page \(page.id.quoted) exceeds the limits: \(error.message)")
      }
      pages.restore(
        page, at: .client(context.hostClient ?? 0), by: context.caller.caller(in: session, logger),
        context.chosenHost?.chosenHost, opener: context.opener, result: try context.earlyResult(),
        guards: context.pageGuards, charge)
    }
    pages.restore(stack)
  }

  /// Returns the stack with these pages, by id. Fails if one is missing.
  func stack(of records: [String: OpenPageRecord]) throws(RecordDecodingError) -> NavigationStack {
    func page(_ place: PagePlace) throws(RecordDecodingError) -> Page {
      guard let record = records[place.id] else {
        throw RecordDecodingError("the page \(place.id.quoted) of the stack is missing")
      }
      return record.content.page(at: place)
    }
    func list(_ places: [PagePlace]) throws(RecordDecodingError) -> [Page] {
      try places.map { (place) throws(RecordDecodingError) in try page(place) }
    }
    var backgroundTabs: [(tab: Int, pages: [Page])] = []
    for tab in self.backgroundTabs ?? [] { backgroundTabs.append((tab.tab, try list(tab.pages))) }
    return NavigationStack(try list(pages), selected: selected, backgroundTabs: backgroundTabs)
  }
}
