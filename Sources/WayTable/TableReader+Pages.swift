import WayNavigation
import WayRouting
import WayValues

// The pages of a route in a document.
extension TableReader {
  /// The presentation of the route's pages.
  mutating func presentation(
    of route: ValueObject, at path: JSONPath, _ kind: RouteKind?
  ) -> Presentation? {
    let path = path.member("presentation")
    guard let value = route["presentation"],
      let object = object(value, at: path, known: ["style", "animated", "navigation"])
    else { return nil }
    if let kind, kind != .page { addFault(path, "only pages have a presentation") }
    return Presentation(
      style: optionalChoice("style", of: object, at: path, as: Style.self),
      isAnimated: boolean("animated", of: object, at: path),
      hasNavigation: boolean("navigation", of: object, at: path))
  }

  /// The methods of the route's pages.
  mutating func methods(
    of route: ValueObject, at path: JSONPath, _ kind: RouteKind?
  ) -> [RoutePageMethod] {
    let path = path.member("methods")
    guard let value = route["methods"], let methods = object(value, at: path) else { return [] }
    if let kind, kind != .page { addFault(path, "only pages have methods") }
    return methods.members.compactMap { member in
      let path = path.member(member.name)
      let known = ["title", "purpose", "parameters", "required", "result"]
      guard let object = object(member.value, at: path, known: known) else { return nil }
      if member.name.isEmpty { addFault(path, "a method needs a name") }
      return RoutePageMethod(
        member.name, title: string("title", of: object, at: path),
        purpose: string("purpose", of: object, at: path),
        parameters: parameters(of: object, at: path),
        result: schema("result", of: object, at: path))
    }
  }
}

// The topics of a document.
extension TableReader {
  /// The topics that the app publishes.
  mutating func topics(of document: ValueObject) -> [TableTopicDeclaration] {
    let path = JSONPath.root.member("topics")
    guard let value = document["topics"], let topics = object(value, at: path) else { return [] }
    return topics.members.compactMap { member in
      let path = path.member(member.name)
      guard let object = object(member.value, at: path, known: ["title", "purpose", "data"]) else {
        return nil
      }
      if let reason = Self.fault(inTopic: member.name) { addFault(path, reason) }
      return TableTopicDeclaration(
        name: member.name, title: string("title", of: object, at: path),
        purpose: string("purpose", of: object, at: path), data: schema("data", of: object, at: path)
      )
    }
  }

  private static func fault(inTopic name: String) -> String? {
    let isWritten = name.utf8.allSatisfy(TableTopicName.isAllowed)
    guard isWritten, (1...TableTopicName.maxLength).contains(name.utf8.count) else {
      return
        "is not a topic; use at most \(TableTopicName.maxLength) ASCII letters, digits and . _ - : /"
    }
    return TableTopicName.reservedPrefixes.first(where: name.hasPrefix).map {
      "topics that begin with \"\($0)\" are reserved for the server"
    }
  }

  /// The groups or permissions of the document with their meanings; `nil` if it does not declare
  /// them.
  mutating func vocabulary(_ member: String, of document: ValueObject) -> [(String, String)]? {
    let path = JSONPath.root.member(member)
    guard let value = document[member], let object = object(value, at: path) else { return nil }
    return object.members.compactMap { member in
      string(member.value, at: path.member(member.name)).map { (member.name, $0) }
    }
  }
}
