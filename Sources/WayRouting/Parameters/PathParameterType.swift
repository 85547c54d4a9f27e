import WayPatterns
import WayValues

/// The values that a declaration allows for a parameter of the path: what decides whether a pattern
/// matches a URI, apart from its shape.
struct PathParameterType: Sendable, Hashable {
  private let kind: ValueSchema.SchemaKind
  private let allowed: [Value]?
  private let format: ValueSchema.StringFormat?
  private let range: ValueSchema.Bounds<Value>
  private let count: ValueSchema.Bounds<Int>
  private let items: ValueSchema?

  /// Returns `nil` if every segment fits.
  init?(_ schema: ValueSchema) {
    kind = schema.kind
    allowed = schema.allowed
    format = schema.format
    range = schema.range
    count = schema.count
    items = schema.items
    let isAnyString = kind == .string && allowed == nil && format == nil && count == .init()
    let isAnyArray = kind == .array && allowed == nil && items == nil && count == .init()
    if isAnyString || isAnyArray { return nil }
  }

  /// The order among patterns of one shape: those with a lower rank are tried first.
  var rank: UInt8 {
    if allowed != nil { return 0 }
    return switch kind {
    case .boolean: 1
    case .integer: 2
    case .number: 3
    case .string, .array, .object: 4
    }
  }

  /// The rank of a parameter that every segment fits.
  static let anyRank: UInt8 = 5
}

/// What decides which URIs one form of a route's pattern matches: its shape, and the types of its
/// parameters. No two routes have the same one.
package struct RouteShape: Sendable, Hashable {
  private let shape: PatternShape
  /// The types of the parameters in order; empty if every segment fits all of them.
  private let types: [PathParameterType?]

  /// Returns the shapes of a route's pattern: one for each of its forms.
  package static func all(
    of pattern: RoutePattern, priority: Int, parameters: [ParameterDeclaration]
  ) -> [RouteShape] {
    let shapes = PatternShape.all(of: pattern, priority: priority)
    guard parameters.contains(where: { PathParameterType($0.schema) != nil }) else {
      return shapes.map { RouteShape(shape: $0, types: []) }
    }
    return zip(shapes, pattern.parameterNamesOfForms).map { shape, names in
      let types = Self.types(of: names, parameters)
      return RouteShape(shape: shape, types: types.allSatisfy { $0 == nil } ? [] : types)
    }
  }

  /// Returns the ranks of a form's parameters, without those at its end that every segment fits.
  static func typeRanks(of names: [String], _ parameters: [ParameterDeclaration]) -> [UInt8] {
    var ranks = types(of: names, parameters).map { $0?.rank ?? PathParameterType.anyRank }
    while ranks.last == PathParameterType.anyRank { ranks.removeLast() }
    return ranks
  }

  private static func types(
    of names: [String], _ parameters: [ParameterDeclaration]
  ) -> [PathParameterType?] {
    names.map { name in
      parameters.first { $0.name.isSameUTF8(as: name) }.flatMap { PathParameterType($0.schema) }
    }
  }
}
