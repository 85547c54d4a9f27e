import WayNavigation
import WayValues

extension BridgeClient {
  /// A page of the session, as clients are told of it.
  public struct Page: Sendable, Hashable, Identifiable {
    /// Unique in the session; never contains a colon.
    public let id: String
    /// The URI that it was opened with; empty for a page of others, of which a guest is told no more
    /// than that it is there.
    public let uri: String
    /// The name of its declared route; nil where no declared route matched.
    public let route: String?
    /// Path, query and the opener's parameters, merged.
    public let params: ValueObject
    /// What is no business data (`animated`, …), as the opener gave it; only told to the host that
    /// opens the page.
    public let exts: ValueObject
    /// How it was opened.
    public let style: Style
    /// The id of the page that asked for it; only told to the host, where it is known.
    public let opener: String?
    /// Who asked for it; only told to the host.
    public let caller: Caller?
    /// The name of the client that shows it, or `server`; nil in what a host is told.
    public let host: String?
    /// The modal stack that lies over this page, bottom first.
    public let pages: [Page]

    /// A page, for tests of a host.
    public init(
      id: String, uri: String, route: String? = nil, params: ValueObject = [:],
      exts: ValueObject = [:], style: Style = .push, opener: String? = nil, caller: Caller? = nil,
      host: String? = nil, pages: [Page] = []
    ) {
      self.id = id
      self.uri = uri
      self.route = route
      self.params = params
      self.exts = exts
      self.style = style
      self.opener = opener
      self.caller = caller
      self.host = host
      self.pages = pages
    }

    /// `caller` is told beside a page that is to be opened.
    init?(_ value: Value, caller: Caller? = nil) {
      guard let id = value["id"]?.string,
        let style = Style(rawValue: value["style"]?.string ?? "push"),
        let pages = [Page](value["pages"] ?? [])
      else { return nil }
      self.init(
        id: id, uri: value["uri"]?.string ?? "", route: value["route"]?.string,
        params: value["params"]?.object ?? [:],
        exts: value["exts"]?.object ?? [:], style: style, opener: value["opener"]?.string,
        caller: caller, host: value["host"]?.string, pages: pages)
    }
  }
}

extension [BridgeClient.Page] {
  /// nil where one of them is none.
  init?(_ value: Value) {
    guard let values = value.list else { return nil }
    let pages = values.compactMap { BridgeClient.Page($0) }
    guard pages.count == values.count else { return nil }
    self = pages
  }
}
