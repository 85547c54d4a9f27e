import WayRPC
import WayRouting
import WayValues

/// Links from outside that nobody could serve yet, in the order in which they came.
struct WaitingLinks {
  private(set) var links: [DeepLink] = []
  /// Set while one is followed: the others wait for it.
  var isBusy = false

  mutating func add(_ link: DeepLink, limit: Int) throws(RPCError) {
    guard links.count < limit else {
      throw RPCError(
        .tooMany, "\(limit) links wait for somebody who can open them",
        data: ["limit": .integer(Int64(limit))])
    }
    links.append(link)
  }

  mutating func remove(at index: Int) -> DeepLink {
    links.remove(at: index)
  }
}

// Links from outside of the app: each is followed once, as soon as somebody can serve it.
extension Session {
  func deliver(_ params: MethodParams) throws(RPCError) -> Value {
    let link: DeepLink
    if let action = try params.optionalString("action") {
      do {
        link = try routes.current().link(
          action: action, url: try params.optionalString("action_url"))
      } catch {
        throw .ofLookup(error)
      }
    } else {
      link = DeepLink(
        try params.string("uri"), params: try params.object("params") ?? [:])
    }
    try deliver(link)
    return .null
  }

  /// Takes a link, to be followed in its turn. Fails for a text that is no URI, and with 2429 when too many wait.
  func deliver(_ link: DeepLink) throws(RPCError) {
    try link.check()
    try links.add(link, limit: settings.limits.maxLinks)
    followLinks()
  }

  /// Follows the first link that somebody serves. Called again whenever that may have changed.
  func followLinks() {
    guard !links.isBusy, !hasEnded, let index = links.links.firstIndex(where: isDue) else { return }
    let link = links.remove(at: index)
    links.isBusy = true
    Task {
      await follow(link)
      links.isBusy = false
      followLinks()
    }
  }

  /// Whether a link need not wait any longer: it can be opened, or has failed for good. While the session has no host
  /// at all it has only begun, and a URI that nobody serves may be one that a host is about to declare.
  private func isDue(_ link: DeepLink) -> Bool {
    do {
      return try resolve(link.uri, link.params, checking: false).isServed || !hosts.isEmpty
    } catch {
      switch ErrorCode(rawValue: error.code) {
      case .hostAbsent: return false
      case .noRoute: return !hosts.isEmpty
      default: return true
      }
    }
  }

  private func follow(_ link: DeepLink) async {
    for parent in parents(of: link) {
      // A parent that cannot be shown must not cost the page itself.
      _ = await open(parent.text, [:], CallOptions(style: .popTo), as: nil)
    }
    _ = await open(link.uri, link.params, CallOptions(), as: nil)
  }

  private func parents(of link: DeepLink) -> [RouteURI] {
    guard case .match(let match)? = try? look(up: link.uri, link.params, checking: false) else {
      return []
    }
    do {
      return try routes.current().parents(of: match)
    } catch {
      tellNowhere(link.uri, RPCError(error))
      return []
    }
  }
}

extension DeepLink {
  /// Fails with -32602 for a text that is no URI with a scheme.
  func check() throws(RPCError) {
    do {
      if try RouteURI(mapping: uri).scheme == nil { throw RouteURIError(.noScheme, at: 0) }
    } catch {
      throw .invalidParams("The link \(uri.quoted): \(error)")
    }
  }
}
