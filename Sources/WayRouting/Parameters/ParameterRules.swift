import WayPatterns
import WayValues

/// Checks the parameters of a call against the declarations of its route.
final class ParameterRules: Sendable {
  private let declarations: [ParameterDeclaration]
  /// Parameters that are not declared are refused, but those that these patterns take from the
  /// path.
  private let known: Set<UTF8Key>?

  /// Nil where there is nothing to check.
  init?(_ declarations: [ParameterDeclaration], isStrict: Bool, patterns: [RoutePattern]) {
    guard !declarations.isEmpty || isStrict else { return nil }
    self.declarations = declarations
    known =
      isStrict
      ? Set((declarations.map(\.name) + patterns.flatMap(\.parameterNames)).map(UTF8Key.init)) : nil
  }

  /// Turns text of path and query into the declared kinds. What cannot be turned stays, and is told
  /// by ``check`` where the caller gives nothing in its stead.
  func convert(_ params: ValueObject) -> (params: ValueObject, faults: [PatternParameterFault]) {
    var converted = params
    var faults: [PatternParameterFault] = []
    for declaration in declarations where declaration.kind != .string {
      guard let value = params[declaration.name] else { continue }
      let found = declaration.schema.value(ofText: value)
      converted[declaration.name] = found
      if let text = found.string {
        faults.append(.init(of: declaration.name, declaration.kind.fault(ofText: text)))
      }
    }
    return (converted, faults)
  }

  /// Fills in defaults, makes integers of what is written otherwise, and throws all that does not
  /// fit.
  ///
  /// - Parameters:
  ///   - params: all parameters of the call.
  ///   - given: those among them that are the caller's. Null stands for absence there.
  ///   - uriFaults: what ``convert(_:)`` told.
  func check(
    _ params: inout ValueObject, given: ValueObject, uriFaults: [PatternParameterFault]
  ) throws(ResolutionError) {
    var faults = uriFaults.filter { fault in given[fault.name] == nil }
    for declaration in declarations {
      let name = declaration.name
      let schema = declaration.schema
      if params[name]?.isNull == true, !declaration.isRequired, !schema.isNullable {
        params[name] = nil
      }
      if var value = params[name] {
        guard given[name] != nil || !uriFaults.contains(where: { $0.name.isSameUTF8(as: name) })
        else { continue }
        if let integer = schema.kind.integer(of: value) {
          value = integer
          params[name] = integer
        }
        var found: [SchemaFault] = []
        schema.check(value, &found)
        if !found.isEmpty { faults += found.map { $0.fault(of: name) } }
      } else if declaration.isRequired {
        faults.append(
          .init(of: name, "is missing; it has to be \(schema.kind.described)"))
      } else if let value = declaration.defaultValue {
        params[name] = value
      }
    }
    if let known {
      for member in params.members where !known.contains(UTF8Key(member.name)) {
        guard faults.count < ValueSchema.maxFaults else { break }
        faults.append(
          .init(of: member.name, "is no parameter of this route, which takes no others"))
      }
    }
    guard faults.isEmpty else {
      throw .invalidParameters(Array(faults.prefix(ValueSchema.maxFaults)))
    }
  }
}
