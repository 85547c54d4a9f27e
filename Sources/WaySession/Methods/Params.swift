import WayNavigation
import WayRPC
import WayValues

/// The names of all that methods take.
enum ParamName: Int, CaseIterable, Sendable {
  case uri, params, exts, style, deadlineMs, from, action, actionURL, count, to, before, root
  case result, index, page, method, topics, hosts, `protocol`, client, token, join, id, value
  case routes, groups, uses, expiresMs, onBehalfOf, epoch, received, reloaded, open, key, pages
  case failed, sent, expect, operations, table, version

  /// As the wire has it.
  var text: String {
    self == .actionURL ? "action_url" : "\(self)"
  }
}

/// What a parameter has to be.
enum ParamKind: Sendable, Equatable {
  case string, object, list, bool
  /// An integer that is not negative and fits 31 bits.
  case count
  /// Anything, null too.
  case any

  fileprivate var expected: String {
    switch self {
    case .string: "a string"
    case .object: "an object"
    case .list: "an array"
    case .bool: "true or false"
    case .count: "an integer from 0 to \(Int32.max)"
    case .any: "anything"
    }
  }

  fileprivate func fits(_ value: Value) -> Bool {
    switch (self, value) {
    case (.string, .string), (.object, .object), (.list, .list), (.bool, .bool), (.any, _): true
    case (.count, .integer(let integer)): (0...Int64(Int32.max)).contains(integer)
    default: false
    }
  }
}

/// One parameter of a method.
struct Param: Sendable {
  let name: ParamName
  let kind: ParamKind
  /// The name as the wire has it.
  let text: String

  init(_ name: ParamName, _ kind: ParamKind) {
    self.name = name
    self.kind = kind
    text = name.text
  }
}

/// A view of the params of one message: those of its method, each of which is absent or of its
/// kind. Null is as if it were absent.
struct Params {
  private let members: [ValueObject.Member]
  /// Where each name is among the members, or -1: as many as there are ``ParamName``s.
  private var places: InlineArray<41, Int32> = InlineArray(repeating: -1)

  /// The params of a method that takes `named`; others are ignored. Where it takes nothing, nothing
  /// is looked at. Fails with -32602, and the name of the parameter that is not what it has to be.
  init(_ params: Value?, of method: String, taking named: [Param]) throws(CallError) {
    guard !named.isEmpty, let params else {
      members = []
      return
    }
    guard case .object(let object) = params else {
      throw .invalidParams("\(method) takes its params by name: send an object")
    }
    members = object.members
    for place in members.indices {
      guard let param = Self.param(members[place].name, of: named) else { continue }
      let value = members[place].value
      if value.isNull, param.kind != .any { continue }
      guard param.kind.fits(value) else {
        throw .unfit("params.\(param.text)", param.kind.expected, value)
      }
      places[param.name.rawValue] = Int32(truncatingIfNeeded: place)
    }
  }

  private static func param(_ name: String, of named: [Param]) -> Param? {
    for param in named where name.isSameASCII(as: param.text) { return param }
    return nil
  }

  /// All of them, as they came.
  var value: Value { .object(ValueObject(distinct: members)) }

  /// About what they keep, in bytes.
  var size: Int { members.reduce(0) { $0 + $1.value.size } }

  /// The value of a parameter; nil where it is absent.
  @inline(__always)
  subscript(name: ParamName) -> Value? {
    let place = places[name.rawValue]
    // `nil` as a value would be JSON's null.
    return place < 0 ? .none : members[Int(place)].value
  }

  func string(_ name: ParamName) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }
  func object(_ name: ParamName) -> ValueObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }
  func list(_ name: ParamName) -> [Value]? { self[name]?.list }
  func bool(_ name: ParamName) -> Bool? { self[name]?.bool }
  func count(_ name: ParamName) -> Int? { self[name]?.integer.flatMap { Int(exactly: $0) } }

  /// A deadline, or nil for none.
  func time(_ name: ParamName) -> Duration? { count(name).map { .milliseconds($0) } }

  func style() throws(CallError) -> Style? {
    guard let text = string(.style) else { return nil }
    guard let style = Style(rawValue: text) else {
      let known = Style.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidParams("params.style must be one of \(known), not \(text.quoted)")
    }
    return style
  }

  /// What a page gives.
  func result() throws(CallError) -> PageResult? {
    guard let value = self[.result] else { return nil }
    return try PageResult(value, path: "params.result")
  }

  /// The `exts`, none where there are none. Fails with 2413 where they are too large.
  func exts(_ limits: Limits) throws(CallError) -> ValueObject {
    guard let exts = object(.exts) else { return [:] }
    guard Value.object(exts).size <= limits.maxExts else {
      throw CallError(
        .tooLarge, "params.exts have more than \(limits.maxExts) bytes",
        data: ["limit": .integer(Int64(limits.maxExts))])
    }
    return exts
  }

  /// A text that must be there. Fails with -32602 where it is not.
  func required(_ name: ParamName) throws(CallError) -> String {
    guard let text = string(name) else { throw .missing(name, "a string") }
    return text
  }

  /// A list of strings, nil where it is absent. Fails with -32602 for others, and with 2429 for too
  /// many or too large ones.
  func strings(_ name: ParamName, limit: Int) throws(CallError) -> [String]? {
    guard let list = list(name) else { return nil }
    guard list.count <= limit else {
      throw CallError(.tooMany, "params.\(name.text) may hold \(limit) strings")
    }
    var strings: [String] = []
    for (position, value) in list.enumerated() {
      guard let text = value.string, text.utf8.count <= HostDefinition.maxPatternLength else {
        throw .unfit(
          "params.\(name.text)[\(position)]",
          "a string of at most \(HostDefinition.maxPatternLength) bytes", value)
      }
      strings.append(text)
    }
    return strings
  }

  /// A list that must be there. Fails with -32602 where it is not.
  func requiredList(_ name: ParamName) throws(CallError) -> [Value] {
    guard let list = list(name) else { throw .missing(name, "an array") }
    return list
  }
}

extension CallError {
  fileprivate static func missing(_ name: ParamName, _ expected: String) -> CallError {
    .invalidParams("params.\(name.text) is missing: it must be \(expected)")
  }
}
