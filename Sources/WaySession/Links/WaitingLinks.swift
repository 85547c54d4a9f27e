import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// Links from outside that wait to be followed, in the order in which they came.
struct PendingLinks {
  struct Waiting {
    let link: DeepLink
    /// Those of who has handed it over.
    let rights: Rights
    /// Whom it was for, where it comes back to the others when the session ends before it was
    /// followed.
    var expected: UnclaimedLinks.Link?
    /// What it keeps; nil for one of the app's own.
    var charge: ByteBudget.Charge?
  }

  private var links: [Waiting] = []
  /// The one that is followed now: the others wait for it.
  private var current: Waiting?
  /// How many tasks of links have been begun and have not ended: nobody waits for them, and they
  /// are bounded all the same.
  private var running = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// How many wait, or are followed.
  var count: Int { links.count + (current == nil ? 0 : 1) }

  /// Fails with 2429 where too many wait.
  mutating func add(_ link: Waiting) throws(CallError) {
    guard links.count < limit else {
      throw CallError(
        .tooMany, "\(limit) links wait for somebody who can open them",
        data: ["limit": .integer(Int64(limit))])
    }
    links.append(link)
  }

  /// Hands out the first that is due, to be followed; nil while one is followed already.
  mutating func next(_ isDue: (DeepLink) -> Bool) -> Waiting? {
    guard current == nil, running < limit, let index = links.firstIndex(where: { isDue($0.link) })
    else { return nil }
    current = links.remove(at: index)
    return current
  }

  /// The one that was handed out has been followed; `isRunning` where its task goes on.
  mutating func followed(isRunning: Bool) {
    current = nil
    if isRunning { running += 1 }
  }

  /// The task of a link has ended.
  mutating func taskEnded() { running -= 1 }

  /// What is kept of them, the one that is followed among them: until it has been, it may be followed
  /// once more.
  var record: ValueObject {
    [
      "waiting": .list(
        ([current].compactMap(\.self) + links).map { waiting in
          [
            "uri": .string(waiting.link.uri), "params": .object(waiting.link.params),
            "caller": waiting.rights.caller.record,
          ]
        })
    ]
  }

  /// Takes all out; gives those that are for others too.
  mutating func removeAll() -> [UnclaimedLinks.Link] {
    defer {
      links = []
      current = nil
    }
    return ([current].compactMap(\.self) + links).compactMap(\.expected)
  }
}

extension RouterSnapshot {
  /// The link of the older shape `{action, action_url, params}`. Fails as `router.deliver` does.
  package func delivered(
    _ action: String, _ url: String?, _ params: ValueObject
  ) throws(CallError) -> DeepLink {
    do { return try link(action: action, url: url, params: params) } catch {
      if case .invalidURI(let reason) = error {
        throw .invalidParams("params.action_url: \(reason)")
      }
      throw CallError(error)
    }
  }
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

  /// About what it keeps, in bytes.
  var size: Int { uri.utf8.count + Value.object(params).size }
}
