import WayRPC
import WayRouting
import WayValues

/// The params of one request, read by name. What does not fit is -32602, with the member's name.
struct MethodParams {
  let members: ValueObject

  init(_ request: Request) throws(RPCError) {
    switch request.params {
    case nil: members = [:]
    case .object(let members): self.members = members
    default: throw .invalidParams("\(request.method) takes its params by name: send an object")
    }
  }

  func string(_ name: String) throws(RPCError) -> String {
    guard let text = try optionalString(name) else {
      throw .invalidParams("params.\(name) is missing: it must be a string")
    }
    return text
  }

  func optionalString(_ name: String) throws(RPCError) -> String? {
    try read(name, "a string") { $0.string }
  }

  func object(_ name: String) throws(RPCError) -> ValueObject? {
    try read(name, "an object") { $0.object }
  }

  func required(_ name: String) throws(RPCError) -> [Value] {
    guard let list = try list(name) else {
      throw .invalidParams("params.\(name) is missing: it must be an array")
    }
    return list
  }

  /// The member `style`.
  func style() throws(RPCError) -> Style? {
    guard let text = try optionalString("style") else { return nil }
    guard let style = Style(rawValue: text) else {
      let known = Style.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidParams("params.style must be one of \(known), not \(text.quoted)")
    }
    return style
  }

  func list(_ name: String) throws(RPCError) -> [Value]? {
    try read(name, "an array") { $0.list }
  }

  func bool(_ name: String) throws(RPCError) -> Bool? {
    try read(name, "true or false") { $0.bool }
  }

  /// An integer from 0 to `bound`.
  func count(_ name: String, upTo bound: Int = Int(Int32.max)) throws(RPCError) -> Int? {
    try read(name, "an integer from 0 to \(bound)") { value in
      guard let integer = value.integer, (0...Int64(bound)).contains(integer) else { return nil }
      return Int(integer)
    }
  }

  /// A member that is absent or null gives nil; one that `convert` does not take is refused.
  private func read<Result>(
    _ name: String, _ expected: @autoclosure () -> String, _ convert: (Value) -> Result?
  ) throws(RPCError) -> Result? {
    guard let value = members[name], !value.isNull else { return nil }
    guard let result = convert(value) else {
      throw .invalidParams("params.\(name) must be \(expected()), not \(value.kindName)")
    }
    return result
  }
}
