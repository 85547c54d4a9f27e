import WayRouting
import WayValues

// Links from outside that the app's side hands over.
extension SessionHub {
  /// Hands a link to every session of an audience. Where there is none yet, the next one that
  /// belongs to it gets the link. Fails with -32602 for a text that is no URI, and with 2429 when
  /// too many wait.
  package func deliver(_ link: DeepLink, to audience: Audience) throws(CallError) {
    let targets = targets(in: audience)
    guard !targets.isEmpty else { return try expectedLinks.add(link, for: audience) }
    for (session, _) in targets {
      try session.assumeIsolated { session in
        Result { () throws(CallError) in try LinkFollowing.deliver(link, to: session) }
      }.get()
    }
  }
}
