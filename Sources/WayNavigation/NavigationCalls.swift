import WayValues

// Calls with typed results. `waybridge routes generate` creates them from a route table.

/// A page to open, with the type of its result.
///
/// ```swift
/// let note = PageCall<String>(["native://note/:id"], ["id": 7, "title": "Tea"])
/// print(note.uri, note.params)
/// ```
public struct PageCall<Result: Decodable & Sendable>: Sendable {
  private let target: NavigationCallTarget

  /// Creates a call with the first of the patterns for which all parameters are present. `:name`,
  /// as a segment, and a final `*` (an array) are filled in, percent-encoded; the other parameters
  /// are sent with the URI. A parameter that is `nil` is left out. If there is no such call,
  /// opening it throws.
  public init(
    _ patterns: [String], _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]
  ) {
    target = NavigationCallTarget(patterns, parameters)
  }

  /// The URI to open.
  public var uri: String { target.uri }
  /// The parameters that are sent with the URI.
  public var params: ValueObject { target.params }

  /// Throws ``CallError`` -32602 if there is no such call.
  package func check() throws(CallError) {
    if let failure = target.failure { throw failure }
  }

  /// Decodes the data of the outcome as the type. Throws ``CallError`` -32603, of the kind
  /// `malformed`, with the path of the fault.
  package func decode(_ outcome: Outcome) throws(CallError) -> PageOutcome<Result> {
    let hasData = outcome.kind == .finished && !outcome.data.isNull
    return PageOutcome(
      kind: outcome.kind, code: outcome.code, message: outcome.message,
      data: hasData ? try outcome.data.decoded("The result of \(uri.brief)") : nil)
  }
}

/// The outcome of a page that was opened by a ``PageCall``; as ``Outcome``, with the result as a
/// type.
public struct PageOutcome<Result: Sendable>: Sendable {
  /// The reason why the page has closed.
  public let kind: Outcome.OutcomeKind
  /// 0, or a code of the page (`finished`) or of the protocol's registry (the others).
  public let code: Int
  /// A message for people; may be empty.
  public let message: String
  /// The data of the result; `nil` for none.
  public let data: Result?

  /// Creates an outcome, for tests.
  public init(kind: Outcome.OutcomeKind, code: Int = 0, message: String = "", data: Result? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.data = data
  }
}

extension PageOutcome: Equatable where Result: Equatable {}
extension PageOutcome: Hashable where Result: Hashable {}

/// A task or service to run, with the type of its value.
public struct ValueCall<Result: Decodable & Sendable>: Sendable {
  private let target: NavigationCallTarget

  /// Creates a call as ``PageCall/init(_:_:)`` does.
  public init(
    _ patterns: [String], _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]
  ) {
    target = NavigationCallTarget(patterns, parameters)
  }

  /// The URI to run.
  public var uri: String { target.uri }
  /// The parameters that are sent with the URI.
  public var params: ValueObject { target.params }

  /// Throws ``CallError`` -32602 if there is no such call.
  package func check() throws(CallError) {
    if let failure = target.failure { throw failure }
  }

  /// Decodes the value as the type. Throws ``CallError`` -32603, of the kind `malformed`, with the
  /// path of the fault.
  package func decode(_ value: Value) throws(CallError) -> Result {
    try value.decoded("The result of \(uri.brief)")
  }
}

/// A method of an open page, with the type of its result.
public struct PageMethodCall<Result: Decodable & Sendable>: Sendable {
  /// The name of the method.
  public let method: String
  /// The parameters of the method.
  public let params: ValueObject
  private let failure: CallError?

  /// Creates a call of a method; a parameter that is `nil` is left out.
  public init(_ method: String, _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]) {
    self.method = method
    do throws(CallError) {
      params = try ValueObject(encoding: parameters)
      failure = nil
    } catch {
      params = [:]
      failure = error
    }
  }

  /// Throws ``CallError`` -32602 if there is no such call.
  package func check() throws(CallError) {
    if let failure { throw failure }
  }

  /// Decodes the value as the type. Throws ``CallError`` -32603, of the kind `malformed`, with the
  /// path of the fault.
  package func decode(_ value: Value) throws(CallError) -> Result {
    try value.decoded("The result of \(method.brief)")
  }
}

/// A topic that the app publishes, with the type of its data.
public struct EventTopic<Data: Codable & Sendable>: Sendable {
  /// The name of the topic, such as `cart.changed`.
  public let name: String

  /// Creates a topic.
  public init(_ name: String) {
    self.name = name
  }
}

/// An event of an ``EventTopic``.
public struct TopicEvent<Data: Codable & Sendable>: Sendable {
  /// The data of the event.
  public let data: Data
  /// The instant of the event by the server's clock: milliseconds since 1970-01-01 UTC.
  public let at: Int64

  /// Throws ``CallError`` -32603, of the kind `malformed`, with the path of the fault.
  package init(_ topic: EventTopic<Data>, _ data: Value, at: Int64) throws(CallError) {
    self.data = try data.decoded("An event of \(topic.name.brief)")
    self.at = at
  }
}

extension TopicEvent: Equatable where Data: Equatable {}
extension TopicEvent: Hashable where Data: Hashable {}

extension Value {
  fileprivate func decoded<Result: Decodable>(_ what: String) throws(CallError) -> Result {
    do { return try decode(as: Result.self) } catch {
      throw CallError(
        .internal, "\(what) does not fit its type: \(error)", kind: "malformed",
        data: ["path": .string(error.path)])
    }
  }
}
