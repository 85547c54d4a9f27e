import WayValues

/// A method of a route's pages, for `page.call`. Calls of the method, and its results, are checked
/// against the declaration.
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
  /// The rules for parameters; `nil` if nothing is checked.
  private let rules: ParameterRules?

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
    rules = ParameterRules(parameters, isStrict: false, patterns: [])
  }

  /// Checks the parameters of a call, and adds defaults. Throws all faults.
  package func check(_ params: inout ValueObject) throws(RouterResolutionError) {
    guard let rules else { return }
    do { try rules.check(&params, given: params, uriFaults: []) } catch {
      throw RouterResolutionError(error)
    }
  }

  public static func == (left: RoutePageMethod, right: RoutePageMethod) -> Bool {
    left.name == right.name && left.title == right.title && left.purpose == right.purpose
      && left.parameters == right.parameters && left.result == right.result
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(parameters)
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
