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

  func required(_ name: String) throws(RPCError) -> [Value] {
    guard let list = try list(name) else {
      throw .invalidParams("params.\(name) is missing: it must be an array")
    }
    return list
  }

  func optionalString(_ name: String) throws(RPCError) -> String? {
    try member(name).flatMap(Self.string)
  }

  func object(_ name: String) throws(RPCError) -> ValueObject? {
    try member(name).flatMap(Self.object)
  }

  func style() throws(RPCError) -> Style? {
    try member("style").flatMap(Self.style)
  }

  /// An integer that is not negative.
  func count(_ name: String) throws(RPCError) -> Int? {
    try member(name).flatMap(Self.count)
  }

  func list(_ name: String) throws(RPCError) -> [Value]? {
    try member(name).flatMap { (member) throws(RPCError) in
      try Self.read(member, "an array") { $0.list }
    }
  }

  func bool(_ name: String) throws(RPCError) -> Bool? {
    try member(name).flatMap { (member) throws(RPCError) in
      try Self.read(member, "true or false") { $0.bool }
    }
  }

  private func member(_ name: String) -> ValueObject.Member? {
    members[name].map { ValueObject.Member(name: name, value: $0) }
  }
}

// One member each: null is as if it were absent, what does not fit is refused.
extension MethodParams {
  static func string(_ member: ValueObject.Member) throws(RPCError) -> String? {
    try read(member, "a string") { $0.string }
  }

  static func object(_ member: ValueObject.Member) throws(RPCError) -> ValueObject? {
    try read(member, "an object") { $0.object }
  }

  static func style(_ member: ValueObject.Member) throws(RPCError) -> Style? {
    guard let text = try string(member) else { return nil }
    guard let style = Style(rawValue: text) else {
      let known = Style.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidParams("params.style must be one of \(known), not \(text.quoted)")
    }
    return style
  }

  static func count(_ member: ValueObject.Member) throws(RPCError) -> Int? {
    let bound = Int32.max
    return try read(member, "an integer from 0 to \(bound)") { value in
      value.integer.flatMap { (0...Int64(bound)).contains($0) ? Int($0) : nil }
    }
  }

  private static func read<Result>(
    _ member: ValueObject.Member, _ expected: @autoclosure () -> String,
    _ convert: (Value) -> Result?
  ) throws(RPCError) -> Result? {
    if let result = convert(member.value) { return result }
    if member.value.isNull { return nil }
    throw .invalidParams(
      "params.\(member.name) must be \(expected()), not \(member.value.kindName)")
  }
}
