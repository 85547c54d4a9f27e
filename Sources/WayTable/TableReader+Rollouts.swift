import WayPatterns
import WayRouting
import WayValues

// What the document says of whom something is for.
extension TableReader {
  /// Whom a route is there for.
  mutating func release(of route: ValueObject, at path: JSONPath) -> Rollout? {
    let path = path.member("release")
    guard let value = route["release"],
      let object = object(value, at: path, known: ["share", "clients"])
    else { return nil }
    if object.isEmpty {
      fault(path, "says for whom: 'share', 'clients' or both; without them leave it out")
    }
    return release(object, at: path, from: 0)
  }

  /// Shares of branches lie side by side: this one's begins at `start`.
  mutating func release(
    _ object: ValueObject, at path: JSONPath, from start: Double
  ) -> Rollout? {
    guard object["share"] != nil || object["clients"] != nil else { return nil }
    return Rollout(
      share: share(of: object, at: path).map { start..<max(start, start + $0) },
      clients: clients(of: object, at: path))
  }

  private mutating func share(of object: ValueObject, at path: JSONPath) -> Double? {
    guard let value = object["share"] else { return nil }
    let path = path.member("share")
    guard let share = value.double else {
      fault(path, "has to be a number from 0 to 1")
      return nil
    }
    guard (0...1).contains(share) else {
      let hint = (1...100).contains(share) ? "; write \(share / 100) for \(value.brief) %" : ""
      fault(path, "has to be from 0 to 1\(hint)")
      return nil
    }
    return share
  }

  private mutating func clients(of object: ValueObject, at path: JSONPath) -> [Rollout
    .ClientVersions]
  {
    let path = path.member("clients")
    guard let value = object["clients"], let clients = self.object(value, at: path) else {
      return []
    }
    if clients.isEmpty { fault(path, "needs at least one client; * is any") }
    return clients.members.compactMap { member in
      let path = path.member(member.name)
      guard let text = text(member.value, at: path) else { return nil }
      guard let range = VersionRange(text) else {
        fault(path, "'\(text)' are no versions; write them as \">=5.2 <6\"")
        return nil
      }
      if range.isEmpty { fault(path, "no version is '\(text)'") }
      return Rollout.ClientVersions(name: member.name == "*" ? nil : member.name, versions: range)
    }
  }

  /// The branches of a redirect.
  mutating func branches(
    _ value: Value, at path: JSONPath
  ) -> [Redirect.Branch]? {
    guard let list = list(value, at: path) else { return nil }
    if list.isEmpty { fault(path, "needs at least one branch") }
    var branches: [Redirect.Branch] = []
    var start = 0.0
    var end: Int?
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let object = object(value, at: path, known: ["to", "share", "clients"]) else {
        continue
      }
      if let end { fault(path, "is never taken, since branch \(end) is for everybody") }
      let to = target("to", of: object, at: path)
      let release = release(object, at: path, from: start)
      start = release?.share?.upperBound ?? start
      if start > 1.000_000_1 {
        fault(path.member("share"), "the shares up to here are more than 1")
      }
      if release == nil { end = index }
      branches.append(.init(to: to, release: release))
    }
    return branches
  }
}
