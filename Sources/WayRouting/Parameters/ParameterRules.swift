import WayPatterns
import WayValues

/// Checks the parameters of a call against the declarations of its route.
final class ParameterRules: Sendable {
  private let declarations: [ParameterDeclaration]
  /// The declarations of parameters of the path that not every segment fits.
  private let pathDeclarations: [ParameterDeclaration]
  /// The declared names and those that the patterns capture from the path; other parameters are
  /// rejected. `nil` if any name is allowed.
  private let knownNames: Set<UTF8Key>?

  /// Returns `nil` if there is nothing to check.
  init?(_ declarations: [ParameterDeclaration], isStrict: Bool, patterns: [RoutePattern]) {
    guard !declarations.isEmpty || isStrict else { return nil }
    self.declarations = declarations
    let typed = declarations.filter { PathParameterType($0.schema) != nil }
    let names = Set(typed.isEmpty ? [] : patterns.flatMap(\.parameterNames).map(UTF8Key.init))
    pathDeclarations = typed.filter { names.contains(UTF8Key($0.name)) }
    knownNames =
      isStrict
      ? Set((declarations.map(\.name) + patterns.flatMap(\.parameterNames)).map(UTF8Key.init)) : nil
  }

  /// Whether types decide which URIs the patterns match.
  var hasPathTypes: Bool { !pathDeclarations.isEmpty }

  /// Returns the first parameter of the path whose value does not fit its declaration, and the
  /// fault; `nil` if all fit.
  func pathFault(_ path: ValueObject) -> (name: String, fault: String)? {
    for declaration in pathDeclarations {
      guard let text = path[declaration.name] else { continue }
      let schema = declaration.schema
      let value = schema.value(ofText: text)
      if schema.kind != .string, let text = value.string {
        return (declaration.name, schema.kind.fault(ofText: text))
      }
      var faults: [SchemaFault] = []
      schema.check(value, &faults)
      if let fault = faults.first { return (declaration.name, fault.message) }
    }
    return nil
  }

  /// Converts strings of path and query to the declared kinds. A string that cannot be converted
  /// stays, and ``check(_:given:uriFaults:)`` reports it if the caller does not override it.
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

  /// Adds defaults, converts numbers in other notations to integers, and throws all faults.
  ///
  /// - Parameters:
  ///   - params: all parameters of the call.
  ///   - given: those among them that are the caller's. Null means absence there.
  ///   - uriFaults: the faults that ``convert(_:)`` returned.
  func check(
    _ params: inout ValueObject, given: ValueObject, uriFaults: [PatternParameterFault]
  ) throws(PatternParameterError) {
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
    if let knownNames {
      for member in params.members where !knownNames.contains(UTF8Key(member.name)) {
        guard faults.count < ValueSchema.maxFaults else { break }
        faults.append(
          .init(of: member.name, "is not a parameter of this route, which allows no others"))
      }
    }
    guard faults.isEmpty else {
      throw .parameters(Array(faults.prefix(ValueSchema.maxFaults)))
    }
  }
}
