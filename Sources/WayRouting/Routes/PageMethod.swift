import WayValues

/// What `page.call` may ask of the pages of a route. Declared for those who write the calls: who
/// answers them checks them.
public struct PageMethod: Sendable, Hashable {
  /// Unique in the route.
  public let name: String
  /// A few words for people.
  public let title: String?
  /// What it is for, in a sentence or two.
  public let purpose: String?
  /// What it takes.
  public let parameters: [ParameterDeclaration]
  /// What it answers; nil where that is not said.
  public let result: ValueSchema?

  /// A method.
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

  /// As a route table has it, without the name.
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
  /// Adds `parameters` and `required` as a route table has them.
  package mutating func add(_ parameters: [ParameterDeclaration]) {
    guard !parameters.isEmpty else { return }
    self["parameters"] = .object(ValueObject(parameters.map { ($0.name, $0.value) }))
    let required = parameters.filter(\.isRequired).map { Value.string($0.name) }
    if !required.isEmpty { self["required"] = .list(required) }
  }
}
