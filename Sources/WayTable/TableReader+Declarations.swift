import WayRouting
import WayValues

extension TableReader {
  /// The declarations of `parameters`, one for each name.
  mutating func parameters(of route: ValueObject, at path: JSONPath) -> [ParameterDeclaration] {
    guard let value = route["parameters"] else { return [] }
    let path = path.member("parameters")
    return (object(value, at: path)?.members ?? []).compactMap { member in
      parameter(member.name, member.value, at: path.member(member.name))
    }
  }

  private mutating func parameter(
    _ name: String, _ value: Value, at path: JSONPath
  ) -> ParameterDeclaration? {
    let known = ["type", "title", "required", "default", "enum"]
    guard let object = object(value, at: path, known: known) else { return nil }
    let kind = choice("type", of: object, at: path, as: ParameterDeclaration.Kind.self)
    let title = text("title", of: object, at: path)
    let isRequired = bool("required", of: object, at: path) ?? false
    let allowed = object["enum"].flatMap { list($0, at: path.member("enum")) }
    guard let kind else { return nil }
    let parameter = ParameterDeclaration(
      name, kind, title: title, isRequired: isRequired, defaultValue: object["default"],
      allowed: allowed)
    if let reason = parameter.fault { fault(path, reason) }
    return parameter
  }

  /// Checks `result`, which is kept as it came.
  mutating func checkResult(of route: ValueObject, at path: JSONPath) {
    guard let value = route["result"] else { return }
    let path = path.member("result")
    guard let object = object(value, at: path, known: ["type", "title"]) else { return }
    _ = choice("type", of: object, at: path, as: ParameterDeclaration.Kind.self)
    _ = text("title", of: object, at: path)
  }
}
