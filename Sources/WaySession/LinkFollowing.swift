import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Follows links from outside of the app: each once, as soon as somebody can serve it.
enum LinkFollowing {
  /// Takes a link, to be followed in its turn. Fails for a text that is no URI, and with 2429 when
  /// too many wait.
  static func deliver(_ link: DeepLink, to session: isolated Session) throws(CallError) {
    try link.check()
    try session.links.add(link)
    goOn(in: session)
  }

  /// Follows the first link that is due. To be called whenever that may have changed.
  static func goOn(in session: isolated Session) {
    let guide = session.guide
    guard let link = session.links.next({ isDue($0, guide) }) else { return }
    Task {
      await follow(link, in: session)
      session.links.followed()
      goOn(in: session)
    }
  }

  /// Whether a link need not wait any longer: it can be opened, or has failed for good. While the
  /// session has no host at all it has only begun, and a URI that nobody serves may be one that a
  /// host is about to declare.
  private static func isDue(_ link: DeepLink, _ guide: Guide) -> Bool {
    let hasHosts = !guide.hosts.isEmpty
    do {
      let destination = try guide.destination(of: link.uri, link.params, checking: false)
      return destination.isServed || hasHosts
    } catch {
      switch error.protocolCode {
      case .hostAbsent: return false
      case .noRoute: return hasHosts
      default: return true
      }
    }
  }

  private static func follow(_ link: DeepLink, in session: isolated Session) async {
    for parent in parents(of: link, in: session) {
      // A parent that cannot be shown must not cost the page itself.
      _ = await SwiftCalls.open(parent.text, CallOptions(style: .popTo), as: nil, in: session)
    }
    _ = await SwiftCalls.open(link.uri, CallOptions(params: link.params), as: nil, in: session)
  }

  private static func parents(of link: DeepLink, in session: isolated Session) -> [RouteURI] {
    do { return try session.guide.parents(of: link) } catch {
      session.happenings.tellNowhere(link.uri, error)
      return []
    }
  }
}
