import WayValues

/// One change of a table.
public enum TableOperation: Sendable, Hashable {
  /// Adds a route, an object as the document has it, behind the others.
  case add(route: Value)
  /// Puts a route in the place of the one of its name.
  case replace(route: Value)
  /// Takes out the route of a name.
  case remove(route: String)
  /// Sets a redirect, an object as the document has it, in the place of the one with its `from`, or
  /// behind the others.
  case redirect(Value)
  /// Takes out the redirect with this `from`.
  case unredirect(from: String)
  /// Goes back to the table that the server began with.
  case reset

  /// The words of the wire.
  private enum Word: String, CaseIterable {
    case add, replace, remove, redirect, unredirect, reset
  }

  /// Sends the URIs that match a pattern elsewhere.
  public static func redirect(_ from: String, to: String) -> TableOperation {
    .redirect(["from": .string(from), "to": .string(to)])
  }

  /// Reads operations as `table.update` has them; throws every fault.
  package static func operations(
    parsing value: Value, at path: JSONPath
  ) throws(DocumentFaults) -> [TableOperation] {
    var reader = OperationReader()
    let operations = (reader.list(value, at: path) ?? []).enumerated().compactMap {
      reader.operation($1, at: path.element($0))
    }
    guard reader.faults.isEmpty else { throw DocumentFaults(faults: reader.faults) }
    return operations
  }

  private struct OperationReader: DocumentReader {
    var faults: [DocumentFault] = []

    mutating func operation(_ value: Value, at path: JSONPath) -> TableOperation? {
      guard let object = object(value, at: path),
        let word = choice("op", of: object, at: path, as: Word.self)
      else { return nil }
      let known: [String] =
        switch word {
        case .add, .replace, .remove: ["op", "route"]
        case .redirect: ["op", "from", "to", "branches"]
        case .unredirect: ["op", "from"]
        case .reset: ["op"]
        }
      guard let object = self.object(value, at: path, known: known) else { return nil }
      switch word {
      case .add: return route(of: object, at: path).map { .add(route: $0) }
      case .replace: return route(of: object, at: path).map { .replace(route: $0) }
      case .remove: return requiredText("route", of: object, at: path).map { .remove(route: $0) }
      case .redirect:
        var redirect = object
        redirect["op"] = nil
        return .redirect(.object(redirect))
      case .unredirect:
        return requiredText("from", of: object, at: path).map { .unredirect(from: $0) }
      case .reset: return .reset
      }
    }

    private mutating func route(of object: ValueObject, at path: JSONPath) -> Value? {
      if let route = object["route"] { return route }
      fault(path, "the member 'route' is missing")
      return nil
    }
  }
}

extension TableOperation {
  /// Changes a document; `builtIn` is the one that the server began with. Gives what is wrong.
  func apply(to document: inout ValueObject, builtIn: ValueObject) -> String? {
    var routes = document["routes"]?.list ?? []
    var redirects = document["redirects"]?.list ?? []
    func place(ofRoute name: String?) -> Int? {
      routes.firstIndex { route in
        guard let name, let other = route["name"]?.string else { return false }
        return other.isSameUTF8(as: name)
      }
    }
    func place(ofRedirect from: String?) -> Int? {
      redirects.firstIndex { redirect in
        guard let from, let other = redirect["from"]?.string else { return false }
        return other.isSameUTF8(as: from)
      }
    }
    switch self {
    case .add(let route):
      if let name = route["name"]?.string, place(ofRoute: name) != nil {
        return "there is a route '\(name.brief)' already; replace it"
      }
      routes.append(route)
    case .replace(let route):
      let name = route["name"]?.string
      guard let place = place(ofRoute: name) else {
        return missing("route", name, in: routes, "name")
      }
      routes[place] = route
    case .remove(let name):
      guard let place = place(ofRoute: name) else {
        return missing("route", name, in: routes, "name")
      }
      routes.remove(at: place)
    case .redirect(let redirect):
      if let place = place(ofRedirect: redirect["from"]?.string) {
        redirects[place] = redirect
      } else {
        redirects.append(redirect)
      }
    case .unredirect(let from):
      guard let place = place(ofRedirect: from) else {
        return missing("redirect from", from, in: redirects, "from")
      }
      redirects.remove(at: place)
    case .reset:
      document = builtIn
      return nil
    }
    document["routes"] = .list(routes)
    if !redirects.isEmpty || document["redirects"] != nil {
      document["redirects"] = .list(redirects)
    }
    return nil
  }

  private func missing(
    _ what: String, _ name: String?, in list: [Value], _ member: String
  ) -> String {
    guard let name else { return "the \(what) has no '\(member)'" }
    let known = list.compactMap { $0[member]?.string }
    return
      "there is no \(what) '\(name.brief)';\(NearMiss.hint(for: name, among: known)) add it first"
  }
}
