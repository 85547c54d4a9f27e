import WayNavigation
import WayRPC
import WayTransport
import WayValues

/// The names of all parameters of methods.
enum ParamName: Int, CaseIterable, Sendable {
  case uri, params, exts, style, deadlineMs, from, action, actionURL, count, to, before, root
  case result, index, page, method, topics, hosts, `protocol`, client, token, join, id, value
  case routes, groups, uses, expiresMs, onBehalfOf, epoch, received, reloaded, open, key, pages
  case failed, sent, expect, operations, table, version
  case session, messages, after, limit, `as`, records, enabled, timeoutMs, topic, data, retain, gate
  case remove, through, above, all, agent, clear

  /// The name on the wire.
  var wireName: String { Self.wireNames[rawValue] }

  private static let wireNames = allCases.map { $0 == .actionURL ? "action_url" : "\($0)" }
}

/// The type that a parameter must have.
enum ParamKind: Sendable, Equatable {
  case string, object, list, bool
  /// An integer from 0 to 2³¹-1.
  case count
  /// Any value, including null.
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

  /// Whether a member of params has this type.
  fileprivate func matches(_ params: RPCParamsView, _ member: Int) -> Bool {
    switch (self, params.kind(of: member)) {
    case (.string, .string), (.object, .object), (.list, .array), (.bool, .bool), (.any, _): true
    case (.count, .number):
      params.value(of: member).exactInteger.map((0...Int64(Int32.max)).contains) ?? false
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
  /// The list of a method without parameters.
  static let none: ParamList = []
  /// The list of a method that reads no parameters, whatever it gets.
  static let unread = ParamList([], ignoresOthers: true)

  let params: [Param]
  /// Whether members with other names are ignored. Of most methods they are errors.
  let ignoresOthers: Bool
  fileprivate let names: RPCParamsView.MemberNames
  /// The index of each name in the list, or -1. There is one slot for each ``ParamName``.
  fileprivate let slots: InlineArray<59, Int8>

  init(_ params: [Param], ignoresOthers: Bool = false) {
    self.params = params
    self.ignoresOthers = ignoresOthers
    names = RPCParamsView.MemberNames(params.map(\.name.wireName))
    var slots = InlineArray<59, Int8>(repeating: -1)
    for (place, param) in params.enumerated() { slots[param.name.rawValue] = Int8(place) }
    self.slots = slots
  }

  convenience init(arrayLiteral params: Param...) { self.init(params) }

  /// Whether nothing of the params matters.
  fileprivate var isUnread: Bool { params.isEmpty && ignoresOthers }

  /// Throws -32602 if one of the names is not in the list.
  fileprivate func check(_ members: [String], of method: String) throws(CallError) {
    let known = params.map(\.name.wireName)
    guard let unknown = members.first(where: { !known.contains($0) }) else { return }
    var message = "\(method) has no parameter \(unknown.quoted)"
    if let similar = NameSuggestion.closest(unknown, among: known) {
      message += "; did you mean \(similar.quoted)?"
    } else if known.contains("exts") {
      message += "; members of your own belong into params.exts"
    }
    throw .invalidParams(message)
  }
}

/// A view of the params of one message. Each parameter of its method is absent or has the right
/// type, and is decoded on access. Null counts as absent.
struct Params: ~Escapable {
  private let view: RPCParamsView
  private let list: ParamList
  private var memberIndices = RPCParamsView.MemberPositions(repeating: -1)

  /// Creates a view of the params of a method that takes `list`. Throws -32602 with the name of a
  /// parameter that has the wrong type, or that the method does not have.
  @_lifetime(copy view)
  init(_ view: RPCParamsView, of method: String, taking list: ParamList) throws(CallError) {
    self.view = view
    self.list = list
    guard !view.isAbsent, !list.isUnread else { return }
    guard view.isObject else {
      throw .invalidParams("\(method) takes its params by name; send an object")
    }
    view.locate(list.names, &memberIndices)
    var found = 0
    for index in list.params.indices {
      let (param, member) = (list.params[index], Int(memberIndices[index]))
      guard member >= 0 else { continue }
      found += 1
      guard !param.kind.matches(view, member) else { continue }
      guard view.kind(of: member) == .null else {
        throw .typeMismatch(
          "params.\(param.name.wireName)", param.kind.expected, view.value(of: member))
      }
      memberIndices[index] = -1
    }
    if found < view.memberCount, !list.ignoresOthers {
      try list.check(view.memberNames, of: method)
    }
  }

  /// Creates a view of params that were decoded before.
  @_lifetime(immortal)
  init(_ params: Value?, of method: String, taking list: ParamList) throws(CallError) {
    try self.init(RPCParamsView(params), of: method, taking: list)
  }

  /// All params as they were received; an empty object if there are none.
  var value: Value { view.value ?? .object([:]) }

  /// The approximate number of bytes that the params hold.
  var size: Int { view.value?.object?.members.reduce(0) { $0 + $1.value.size } ?? 0 }

  /// The value of a parameter; nil if it is absent.
  @inline(__always)
  subscript(name: ParamName) -> Value? {
    let member = memberIndex(name)
    // `nil` as a value would be JSON's null.
    return member < 0 ? .none : view.value(of: member)
  }

  /// The index of a parameter among the members, or -1.
  @inline(__always)
  private func memberIndex(_ name: ParamName) -> Int {
    let slot = Int(list.slots[name.rawValue])
    return slot < 0 ? -1 : Int(memberIndices[slot])
  }

  func string(_ name: ParamName) -> String? {
    let member = memberIndex(name)
    return member < 0 ? nil : view.string(of: member)
  }

  /// Whether a parameter is this string; does not create a `String` of it.
  func isString(_ name: ParamName, _ text: String) -> Bool {
    let member = memberIndex(name)
    return member >= 0 && view.isString(text, of: member)
  }

  func object(_ name: ParamName) -> ValueObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }
  func list(_ name: ParamName) -> [Value]? { self[name]?.array }
  func bool(_ name: ParamName) -> Bool? { self[name]?.bool }
  func count(_ name: ParamName) -> Int? { self[name]?.exactInteger.flatMap { Int(exactly: $0) } }

  /// A duration in milliseconds; nil if it is absent.
  func duration(_ name: ParamName) -> Duration? { count(name).map { .milliseconds($0) } }

  func style() throws(CallError) -> Style? {
    guard let text = string(.style) else { return nil }
    guard let style = Style(rawValue: text) else {
      let known = Style.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidParams("params.style must be one of \(known), not \(text.quoted)")
    }
    return style
  }

  /// The result that a page returns.
  func result() throws(CallError) -> PageResult? {
    guard let value = self[.result] else { return nil }
    return try PageResult(value, path: "params.result")
  }

  /// The `exts`; empty if they are absent. Throws 2413 if they are too large.
  func exts(_ limits: Limits) throws(CallError) -> ValueObject {
    guard let exts = object(.exts) else { return [:] }
    try Self.check(exts, limits)
    return exts
  }

  /// Throws 2413 if `exts` are too large.
  static func check(_ exts: ValueObject, _ limits: Limits) throws(CallError) {
    guard Value.object(exts).size <= limits.maxExts else {
      throw CallError(
        .tooLarge, "params.exts have more than \(limits.maxExts) bytes",
        data: ["limit": .integer(Int64(limits.maxExts))])
    }
  }

  /// A required string. Throws -32602 if it is absent.
  func required(_ name: ParamName) throws(CallError) -> String {
    guard let text = string(name) else { throw .missing(name, "a string") }
    return text
  }

  /// The page that is named, by default the one that the client is bound to. Throws -32602 if there is
  /// neither.
  func page(or bound: String?) throws(CallError) -> String {
    if let page = string(.page) ?? bound { return page }
    throw .invalidParams("params.page is missing, and this client is not bound to a page")
  }

  /// An array of strings; nil if it is absent. Throws -32602 for other elements or strings that are
  /// too long, and 2429 for too many.
  func strings(_ name: ParamName, limit: Int) throws(CallError) -> [String]? {
    guard let list = list(name) else { return nil }
    guard list.count <= limit else {
      throw CallError(.tooMany, "params.\(name.wireName) may hold at most \(limit) strings")
    }
    var strings: [String] = []
    for (position, value) in list.enumerated() {
      guard let text = value.string, text.utf8.count <= SessionHostDefinition.maxPatternLength
      else {
        throw .typeMismatch(
          "params.\(name.wireName)[\(position)]",
          "a string of at most \(SessionHostDefinition.maxPatternLength) bytes", value)
      }
      strings.append(text)
    }
    return strings
  }

  /// A required array. Throws -32602 if it is absent.
  func requiredList(_ name: ParamName) throws(CallError) -> [Value] {
    guard let list = list(name) else { throw .missing(name, "an array") }
    return list
  }
}

extension CallError {
  fileprivate static func missing(_ name: ParamName, _ expected: String) -> CallError {
    .invalidParams("params.\(name.wireName) is missing; it must be \(expected)")
  }
}
