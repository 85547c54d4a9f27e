import WayPatterns
import WayRouting
import WayValues

// Rollouts in a document: which clients a route or a branch is for.
extension TableReader {
  /// The rollout of a route.
  mutating func rollout(of route: ValueObject, at path: JSONPath) -> RouteRollout? {
    let path = path.member("release")
    guard let value = route["release"],
      let object = object(value, at: path, known: ["share", "clients"])
    else { return nil }
    if object.isEmpty {
      addFault(path, "needs \"share\", \"clients\" or both; remove it to include all callers")
    }
    return rollout(object, at: path, from: 0)
  }

  /// Parses a rollout. The shares of branches are adjacent: this one's begins at `start`.
  mutating func rollout(
    _ object: ValueObject, at path: JSONPath, from start: Double
  ) -> RouteRollout? {
    guard object["share"] != nil || object["clients"] != nil else { return nil }
    return RouteRollout(
      share: share(of: object, at: path).map { start..<max(start, start + $0) },
      clients: clients(of: object, at: path))
  }

  private mutating func share(of object: ValueObject, at path: JSONPath) -> Double? {
    guard let value = object["share"] else { return nil }
    let path = path.member("share")
    guard let share = value.double else {
      addFault(path, "has to be a number from 0 to 1")
      return nil
    }
    guard (0...1).contains(share) else {
      let hint = (1...100).contains(share) ? "; write \(share / 100) for \(value.brief) %" : ""
      addFault(path, "has to be from 0 to 1\(hint)")
      return nil
    }
    return share
  }

  private mutating func clients(of object: ValueObject, at path: JSONPath) -> [RouteRollout
    .ClientVersions]
  {
    let path = path.member("clients")
    guard let value = object["clients"], let clients = self.object(value, at: path) else {
      return []
    }
    if clients.isEmpty { addFault(path, "needs at least one client; use * for any") }
    return clients.members.compactMap { member in
      let path = path.member(member.name)
      guard let text = string(member.value, at: path) else { return nil }
      guard let range = VersionRange(text) else {
        addFault(path, "\"\(text)\" is not a range of versions; write it as \">=5.2 <6\"")
        return nil
      }
      if range.isEmpty { addFault(path, "no version is in the range \"\(text)\"") }
      return RouteRollout.ClientVersions(
        name: member.name == "*" ? nil : member.name, versions: range)
    }
  }

  /// The branches of a redirect.
  mutating func branches(
    _ value: Value, at path: JSONPath
  ) -> [Redirect.Branch]? {
    guard let list = array(value, at: path) else { return nil }
    if list.isEmpty { addFault(path, "needs at least one branch") }
    var branches: [Redirect.Branch] = []
    var start = 0.0
    var end: Int?
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let object = object(value, at: path, known: ["to", "share", "clients"]) else {
        continue
      }
      if let end { addFault(path, "is never used, because branch \(end) applies to all callers") }
      let to = target("to", of: object, at: path)
      let rollout = rollout(object, at: path, from: start)
      start = rollout?.share?.upperBound ?? start
      if start > 1.000_000_1 {
        addFault(path.member("share"), "the shares up to here add up to more than 1")
      }
      if rollout == nil { end = index }
      branches.append(.init(to: to, rollout: rollout))
    }
    return branches
  }
}
