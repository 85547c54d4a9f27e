import WayNavigation
import WayRPC
import WayValues

/// The names of all that methods take.
enum ParamName: Int, CaseIterable, Sendable {
  case uri, params, exts, style, deadlineMs, from, action, actionURL, count, to, before, root
  case result, index, page, method, topics, hosts, `protocol`, client, token, join, id, value
  case routes, groups, uses, expiresMs, onBehalfOf, epoch, received, reloaded, open, key, pages
  case failed, sent, expect, operations, table, version
  case session, messages, after, limit, `as`, records

  /// As the wire has it.
  var text: String { Self.texts[rawValue] }

  private static let texts = allCases.map { $0 == .actionURL ? "action_url" : "\($0)" }
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

  /// Whether a member of params is that.
  fileprivate func fits(_ params: ParamsView, _ member: Int) -> Bool {
    switch (self, params.kind(of: member)) {
    case (.string, .string), (.object, .object), (.list, .list), (.bool, .bool), (.any, _): true
    case (.count, .number):
      params.value(of: member).integer.map((0...Int64(Int32.max)).contains) ?? false
    default: false
    }
  }
}

/// One parameter of a method.
struct Param: Sendable {
  let name: ParamName
  let kind: ParamKind

  init(_ name: ParamName, _ kind: ParamKind) {
    self.name = name
    self.kind = kind
  }
}

/// The parameters that a method reads by name, at most 16.
final class ParamList: Sendable, ExpressibleByArrayLiteral {
  /// Those of a method that takes none.
  static let none: ParamList = []

  let params: [Param]
  fileprivate let names: ParamsView.Names
  /// The place of each name among them, or -1: as many as there are ``ParamName``s.
  fileprivate let slots: InlineArray<47, Int8>

  init(_ params: [Param]) {
    self.params = params
    names = ParamsView.Names(params.map(\.name.text))
    var slots = InlineArray<47, Int8>(repeating: -1)
    for (place, param) in params.enumerated() { slots[param.name.rawValue] = Int8(place) }
    self.slots = slots
  }

  convenience init(arrayLiteral params: Param...) { self.init(params) }
}

/// A view of the params of one message: those of its method, each of which is absent or of its
/// kind, and is decoded when it is asked for. Null is as if it were absent.
struct Params: ~Escapable {
  private let view: ParamsView
  private let list: ParamList
  private var places = ParamsView.Places(repeating: -1)

  /// The params of a method that takes `list`; others are ignored. Where it takes nothing, nothing
  /// is looked at. Fails with -32602, and the name of the parameter that is not what it has to be.
  @_lifetime(copy view)
  init(_ view: ParamsView, of method: String, taking list: ParamList) throws(CallError) {
    self.view = view
    self.list = list
    guard !list.params.isEmpty, !view.isAbsent else { return }
    guard view.isObject else {
      throw .invalidParams("\(method) takes its params by name: send an object")
    }
    view.locate(list.names, &places)
    for index in list.params.indices {
      let (param, member) = (list.params[index], Int(places[index]))
      guard member >= 0, !param.kind.fits(view, member) else { continue }
      guard view.kind(of: member) == .null else {
        throw .unfit("params.\(param.name.text)", param.kind.expected, view.value(of: member))
      }
      places[index] = -1
    }
  }

  /// The params of a message that was decoded before.
  @_lifetime(immortal)
  init(_ params: Value?, of method: String, taking list: ParamList) throws(CallError) {
    try self.init(ParamsView(params), of: method, taking: list)
  }

  /// All of them, as they came; an empty object where there are none.
  var value: Value { view.value ?? .object([:]) }

  /// About what they keep, in bytes.
  var size: Int { view.value?.object?.members.reduce(0) { $0 + $1.value.size } ?? 0 }

  /// The value of a parameter; nil where it is absent.
  @inline(__always)
  subscript(name: ParamName) -> Value? {
    let member = member(name)
    // `nil` as a value would be JSON's null.
    return member < 0 ? .none : view.value(of: member)
  }

  /// Where a parameter is among the members, or -1.
  @inline(__always)
  private func member(_ name: ParamName) -> Int {
    let slot = Int(list.slots[name.rawValue])
    return slot < 0 ? -1 : Int(places[slot])
  }

  func string(_ name: ParamName) -> String? {
    let member = member(name)
    return member < 0 ? nil : view.string(of: member)
  }

  /// Whether a parameter is a text, and this one: it need not be made to be known.
  func isString(_ name: ParamName, _ text: String) -> Bool {
    let member = member(name)
    return member >= 0 && view.isString(text, of: member)
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
