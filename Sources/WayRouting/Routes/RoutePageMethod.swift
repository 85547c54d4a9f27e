import WayValues

/// A method of a route's pages, for `page.call`. The declaration is for developers of callers: the
/// page itself checks its calls.
public struct RoutePageMethod: Sendable, Hashable {
  /// The name, unique in the route.
  public let name: String
  /// A short title for people.
  public let title: String?
  /// The purpose, in a sentence or two.
  public let purpose: String?
  /// The parameters.
  public let parameters: [ParameterDeclaration]
  /// The schema of the result; `nil` if it is not declared.
  public let result: ValueSchema?

  /// Creates a method.
  public init(
    _ name: String, title: String? = nil, purpose: String? = nil,
    parameters: [ParameterDeclaration] = [], result: ValueSchema? = nil
  ) {
    self.name = name
    self.title = title
    self.purpose = purpose
    self.parameters = parameters
    self.result = result
  }

  /// The method in a route table, without the name.
  package var value: Value {
    var members: ValueObject = [:]
    members["title"] = title.map(Value.string)
    members["purpose"] = purpose.map(Value.string)
    members.add(parameters)
    members["result"] = result?.value
    return .object(members)
  }
}

extension ValueObject {
  /// Adds `parameters` and `required` as in a route table.
  package mutating func add(_ parameters: [ParameterDeclaration]) {
    guard !parameters.isEmpty else { return }
    self["parameters"] = .object(ValueObject(parameters.map { ($0.name, $0.value) }))
    let required = parameters.filter(\.isRequired).map { Value.string($0.name) }
    if !required.isEmpty { self["required"] = .array(required) }
  }
}
