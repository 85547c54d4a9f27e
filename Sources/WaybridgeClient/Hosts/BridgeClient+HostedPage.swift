import WayNavigation
import WayValues

extension BridgeClient {
  /// A page of the session, as the server describes it to clients.
  public struct HostedPage: Sendable, Hashable, Identifiable {
    /// Unique in the session; never contains a colon.
    public let id: String
    /// The URI that it was opened with, or the last one that a call has delivered to it; empty for a
    /// page of others, of which a guest only learns that it exists.
    public let uri: String
    /// The name of its declared route; nil if no declared route matched.
    public let route: String?
    /// Path, query and the opener's parameters, merged.
    public let params: ValueObject
    /// Extensions that are not business data (`animated`, …), as the opener passed them; only sent
    /// to the host that opens the page.
    public let exts: ValueObject
    /// How it was opened.
    public let style: Style
    /// The id of the page that opened this page, if known; only sent to the host.
    public let opener: String?
    /// The id of the page that will lie directly over it; nil if it comes on top. Only sent to the host.
    public let under: String?
    /// The caller that opened this page; only sent to the host.
    public let caller: CallerDescription?
    /// The name of the client that shows it, or `server`; nil in a page that is sent to a host.
    public let host: String?
    /// The modal stack that lies over this page, bottom first.
    public let pages: [HostedPage]

    /// Creates a page, for tests of a host.
    public init(
      id: String, uri: String, route: String? = nil, params: ValueObject = [:],
      exts: ValueObject = [:], style: Style = .push, opener: String? = nil,
      under: String? = nil, caller: CallerDescription? = nil,
      host: String? = nil, pages: [HostedPage] = []
    ) {
      self.id = id
      self.uri = uri
      self.route = route
      self.params = params
      self.exts = exts
      self.style = style
      self.opener = opener
      self.under = under
      self.caller = caller
      self.host = host
      self.pages = pages
    }

    /// Decodes a page. `caller` is sent beside a page that is to be opened.
    init?(_ value: Value, caller: CallerDescription? = nil) {
      guard let message = try? value.decode(as: PageMessage.self) else { return nil }
      self.init(message, caller: caller)
    }

    fileprivate init(_ message: PageMessage, caller: CallerDescription? = nil) {
      self.init(
        id: message.id, uri: message.uri ?? "", route: message.route,
        params: message.params ?? [:], exts: message.exts ?? [:], style: message.style ?? .push,
        opener: message.opener, under: message.under, caller: caller, host: message.host,
        pages: (message.pages ?? []).map { HostedPage($0) })
    }

    /// Returns the page with the URI, parameters and extensions that `page.resume` delivers; absent
    /// ones stay.
    func updated(with params: Value) -> HostedPage {
      HostedPage(
        id: id, uri: params["uri"]?.string ?? uri, route: route,
        params: params["params"]?.object ?? self.params, exts: params["exts"]?.object ?? exts,
        style: style, opener: opener, under: under, caller: caller, host: host, pages: pages)
    }
  }
}

/// A page as the server sends it.
private struct PageMessage: Decodable {
  let id: String
  let uri: String?
  let route: String?
  let params: ValueObject?
  let exts: ValueObject?
  let style: Style?
  let opener: String?
  let under: String?
  let host: String?
  let pages: [PageMessage]?
}

extension [BridgeClient.HostedPage] {
  /// Decodes an array of pages; nil if one of them is invalid.
  init?(_ value: Value) {
    guard let values = value.array else { return nil }
    let pages = values.compactMap { BridgeClient.HostedPage($0) }
    guard pages.count == values.count else { return nil }
    self = pages
  }
}
