import WayPatterns
import WayRouting
import WayValues

/// Links from outside that wait to be followed, in the order in which they came.
struct WaitingLinks {
  private var links: [DeepLink] = []
  /// Set while one is followed: the others wait for it.
  private var isBusy = false
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Fails with 2429 where too many wait.
  mutating func add(_ link: DeepLink) throws(CallError) {
    guard links.count < limit else {
      throw CallError(
        .tooMany, "\(limit) links wait for somebody who can open them",
        data: ["limit": .integer(Int64(limit))])
    }
    links.append(link)
  }

  /// Hands out the first that is due, to be followed; nil while one is followed already.
  mutating func next(_ isDue: (DeepLink) -> Bool) -> DeepLink? {
    guard !isBusy, let index = links.firstIndex(where: isDue) else { return nil }
    isBusy = true
    return links.remove(at: index)
  }

  /// The one that was handed out has been followed.
  mutating func followed() { isBusy = false }

  mutating func removeAll() { links = [] }
}

extension DeepLink {
  /// Fails with -32602 for a text that is no URI with a scheme.
  package func check() throws(CallError) {
    do {
      if try RouteURI(mapping: uri).scheme == nil { throw RouteURIError(.noScheme, at: 0) }
    } catch {
      throw .invalidParams("The link \(uri.quoted): \(error)")
    }
  }
}
