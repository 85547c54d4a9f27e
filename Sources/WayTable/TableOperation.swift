import WayValues

/// One change of a table.
public enum TableOperation: Sendable, Hashable {
  /// Adds a route, an object as in the document, after the others.
  case add(route: Value)
  /// Replaces the route with the same name.
  case replace(route: Value)
  /// Removes the route with this name.
  case remove(route: String)
  /// Sets a redirect, an object as in the document. It replaces the one with the same `from`, or is
  /// added after the others.
  case redirect(Value)
  /// Removes the redirect with this `from`.
  case unredirect(from: String)
  /// Restores the table that the server started with.
  case reset

  /// The values of `op` on the wire.
  private enum OperationName: String, CaseIterable {
    case add, replace, remove, redirect, unredirect, reset
  }

  /// Redirects the URIs that match a pattern.
  public static func redirect(_ from: String, to: String) -> TableOperation {
    .redirect(["from": .string(from), "to": .string(to)])
  }

  /// Parses the operations of `table.update`. Throws all errors.
  package static func operations(
    parsing value: Value, at path: JSONPath
  ) throws(DocumentFaults) -> [TableOperation] {
    var reader = OperationReader()
    let operations = (reader.array(value, at: path) ?? []).enumerated().compactMap {
      reader.operation($1, at: path.element($0))
    }
    guard reader.faults.isEmpty else { throw DocumentFaults(faults: reader.faults) }
    return operations
  }

  private struct OperationReader: DocumentReader {
    var faults: [DocumentFault] = []

    mutating func operation(_ value: Value, at path: JSONPath) -> TableOperation? {
      guard let object = object(value, at: path),
        let word = choice("op", of: object, at: path, as: OperationName.self)
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
      case .remove: return requiredString("route", of: object, at: path).map { .remove(route: $0) }
      case .redirect:
        var redirect = object
        redirect["op"] = nil
        return .redirect(.object(redirect))
      case .unredirect:
        return requiredString("from", of: object, at: path).map { .unredirect(from: $0) }
      case .reset: return .reset
      }
    }

    private mutating func route(of object: ValueObject, at path: JSONPath) -> Value? {
      if let route = object["route"] { return route }
      addFault(path, "the member \"route\" is missing")
      return nil
    }
  }
}

extension TableOperation {
  /// Applies the operation to a document. `builtIn` is the document that the server started with.
  /// Returns the reason if it fails.
  func apply(to document: inout ValueObject, builtIn: ValueObject) -> String? {
    var routes = document["routes"]?.array ?? []
    var redirects = document["redirects"]?.array ?? []
    func index(ofRoute name: String?) -> Int? {
      routes.firstIndex { route in
        guard let name, let other = route["name"]?.string else { return false }
        return other.isSameUTF8(as: name)
      }
    }
    func index(ofRedirect from: String?) -> Int? {
      redirects.firstIndex { redirect in
        guard let from, let other = redirect["from"]?.string else { return false }
        return other.isSameUTF8(as: from)
      }
    }
    switch self {
    case .add(let route):
      if let name = route["name"]?.string, index(ofRoute: name) != nil {
        return "the route \"\(name.brief)\" already exists; replace it"
      }
      routes.append(route)
    case .replace(let route):
      let name = route["name"]?.string
      guard let index = index(ofRoute: name) else {
        return missingMessage("route", name, in: routes, "name")
      }
      routes[index] = route
    case .remove(let name):
      guard let index = index(ofRoute: name) else {
        return missingMessage("route", name, in: routes, "name")
      }
      routes.remove(at: index)
    case .redirect(let redirect):
      if let index = index(ofRedirect: redirect["from"]?.string) {
        redirects[index] = redirect
      } else {
        redirects.append(redirect)
      }
    case .unredirect(let from):
      guard let index = index(ofRedirect: from) else {
        return missingMessage("redirect from", from, in: redirects, "from")
      }
      redirects.remove(at: index)
    case .reset:
      document = builtIn
      return nil
    }
    document["routes"] = .array(routes)
    if !redirects.isEmpty || document["redirects"] != nil {
      document["redirects"] = .array(redirects)
    }
    return nil
  }

  private func missingMessage(
    _ what: String, _ name: String?, in list: [Value], _ member: String
  ) -> String {
    guard let name else { return "the \(what) has no \"\(member)\"" }
    let known = list.compactMap { $0[member]?.string }
    return
      "there is no \(what) \"\(name.brief)\";\(NameSuggestion.hint(for: name, among: known)) add it first"
  }
}
