import WayRouting
import WayTable
import WayValues

/// The document of a table in normal form: members in the order of the schema, without defaults. It
/// means the same, and is itself a valid table.
struct NormalizedTable {
  private let table: RouteTable

  init(_ table: RouteTable) {
    self.table = table
  }

  private static let memberOrder = [
    "version", "types", "groups", "permissions", "topics", "routes", "gates", "redirects",
    "schemes",
    "tabs", "actions", "plusIsSpace",
  ]
  private static let routeMemberOrder = [
    "name", "pattern", "patterns", "kind", "title", "purpose", "priority", "parameters", "required",
    "strict", "result", "groups", "permissions", "fallback", "parents", "presentation", "release",
    "methods", "agents",
  ]

  var value: Value {
    let document = table.document
    var members = document.ordered(Self.memberOrder)
    members["routes"] = .array((document["routes"]?.array ?? []).map(route))
    members["redirects"] = document["redirects"]?.array.map { .array($0.map(redirect)) }
    members["schemes"] = document["schemes"]?.object.map { schemes in
      .object(
        ValueObject(
          schemes.members.map { ($0.name.lowercased(), $0.value.without("closed", false)) }))
    }
    for name in ["types", "topics", "gates", "redirects", "schemes", "tabs", "actions"]
    where members[name]?.isEmpty == true {
      members[name] = nil
    }
    if members["plusIsSpace"] == true { members["plusIsSpace"] = nil }
    return .object(members)
  }

  private func route(_ value: Value) -> Value {
    guard var members = value.object?.ordered(Self.routeMemberOrder) else { return value }
    if let patterns = members["patterns"]?.array, patterns.count == 1 {
      members["pattern"] = patterns[0]
      members["patterns"] = nil
      members = members.ordered(Self.routeMemberOrder)
    }
    if members["priority"] == 0 { members["priority"] = nil }
    if members["strict"] == false { members["strict"] = nil }
    for name in ["parameters", "required", "groups", "permissions", "parents", "methods"]
    where members[name]?.isEmpty == true {
      members[name] = nil
    }
    return .object(members)
  }

  /// Replaces a single branch for everyone with a target.
  private func redirect(_ value: Value) -> Value {
    guard let branches = value["branches"]?.array, branches.count == 1, let from = value["from"],
      let branch = branches[0].object, branch.count == 1, let to = branch["to"]
    else { return value }
    return ["from": from, "to": to]
  }
}

extension ValueObject {
  /// The members with these names, in this order.
  fileprivate func ordered(_ names: [String]) -> ValueObject {
    ValueObject(names.compactMap { name in self[name].map { (name, $0) } })
  }
}

extension Value {
  fileprivate var isEmpty: Bool { array?.isEmpty ?? object?.isEmpty ?? false }

  fileprivate func without(_ name: String, _ value: Value) -> Value {
    guard var members = object, members[name] == value else { return self }
    members[name] = nil
    return .object(members)
  }
}
