import WayValues

// Calls that say what they give back. `waybridge routes generate` makes them of a route table.

/// A page that is to be opened, with the type of its result.
///
/// ```swift
/// let note = PageCall<String>(["native://note/:id"], ["id": 7, "title": "Tea"])
/// print(note.uri, note.params)
/// ```
public struct PageCall<Result: Decodable & Sendable>: Sendable {
  private let address: CallTarget

  /// A call of the first of the patterns that all parameters are there for: `:name`, as a segment,
  /// and a final `*` (a list) are filled in, percent-encoded, the other parameters go along. One
  /// that is nil is left out. What cannot be called so is told when it is opened.
  public init(
    _ patterns: [String], _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]
  ) {
    address = CallTarget(patterns, parameters)
  }

  /// What is opened.
  public var uri: String { address.uri }
  /// What goes along with the URI.
  public var params: ValueObject { address.params }

  /// Throws ``CallError`` -32602 where no such call can be made.
  package func check() throws(CallError) {
    if let fault = address.fault { throw fault }
  }

  /// The outcome with its data as the type. Throws ``CallError`` -32603, of the kind `malformed`,
  /// with the place of what does not fit.
  package func outcome(_ outcome: Outcome) throws(CallError) -> PageOutcome<Result> {
    let isGiven = outcome.kind == .finished && !outcome.data.isNull
    return PageOutcome(
      kind: outcome.kind, code: outcome.code, message: outcome.message,
      data: isGiven ? try outcome.data.fitting("The result of \(uri.brief)") : nil)
  }
}

/// How a page ended that was opened by a ``PageCall``; as ``Outcome``, with the result as a type.
public struct PageOutcome<Result: Sendable>: Sendable {
  /// Why the page is gone.
  public let kind: Outcome.Kind
  /// 0, or a code of the page's own (`finished`) or of the protocol's registry (the others).
  public let code: Int
  /// Text for people; may be empty.
  public let message: String
  /// What the page gave; nil where it gave nothing.
  public let data: Result?

  /// An outcome, for tests of what reads them.
  public init(kind: Outcome.Kind, code: Int = 0, message: String = "", data: Result? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.data = data
  }
}

extension PageOutcome: Equatable where Result: Equatable {}
extension PageOutcome: Hashable where Result: Hashable {}

/// A task or service that is to be run, with the type of the value that it answers.
public struct ValueCall<Result: Decodable & Sendable>: Sendable {
  private let address: CallTarget

  /// A call as ``PageCall/init(_:_:)`` makes one.
  public init(
    _ patterns: [String], _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]
  ) {
    address = CallTarget(patterns, parameters)
  }

  /// What is run.
  public var uri: String { address.uri }
  /// What goes along with the URI.
  public var params: ValueObject { address.params }

  /// Throws ``CallError`` -32602 where no such call can be made.
  package func check() throws(CallError) {
    if let fault = address.fault { throw fault }
  }

  /// The value as the type. Throws ``CallError`` -32603, of the kind `malformed`, with the place of
  /// what does not fit.
  package func result(_ value: Value) throws(CallError) -> Result {
    try value.fitting("The answer of \(uri.brief)")
  }
}

/// A method of an open page, with the type of what the page answers.
public struct PageMethodCall<Result: Decodable & Sendable>: Sendable {
  /// What the page calls it.
  public let method: String
  /// What it takes.
  public let params: ValueObject
  private let fault: CallError?

  /// A call of a method; a parameter that is nil is left out.
  public init(_ method: String, _ parameters: KeyValuePairs<String, (any Encodable)?> = [:]) {
    self.method = method
    do throws(CallError) {
      params = try ValueObject(encoding: parameters)
      fault = nil
    } catch {
      params = [:]
      fault = error
    }
  }

  /// Throws ``CallError`` -32602 where no such call can be made.
  package func check() throws(CallError) {
    if let fault { throw fault }
  }

  /// The value as the type. Throws ``CallError`` -32603, of the kind `malformed`, with the place of
  /// what does not fit.
  package func result(_ value: Value) throws(CallError) -> Result {
    try value.fitting("The answer to \(method.brief)")
  }
}

/// A topic that the app publishes, with the type of its data.
public struct EventTopic<Data: Codable & Sendable>: Sendable {
  /// Such as `cart.changed`.
  public let name: String

  /// A topic.
  public init(_ name: String) {
    self.name = name
  }
}

/// An event of an ``EventTopic``.
public struct TopicEvent<Data: Codable & Sendable>: Sendable {
  /// What the app says.
  public let data: Data
  /// When it happened by the server's clock: milliseconds since 1970-01-01 UTC.
  public let at: Int64

  /// Throws ``CallError`` -32603, of the kind `malformed`, with the place of what does not fit.
  package init(_ topic: EventTopic<Data>, _ data: Value, at: Int64) throws(CallError) {
    self.data = try data.fitting("An event of \(topic.name.brief)")
    self.at = at
  }
}

extension TopicEvent: Equatable where Data: Equatable {}
extension TopicEvent: Hashable where Data: Hashable {}

extension Value {
  fileprivate func fitting<Result: Decodable>(_ what: String) throws(CallError) -> Result {
    do { return try read(as: Result.self) } catch {
      throw CallError(
        .internal, "\(what) does not fit its type: \(error)", kind: "malformed",
        data: ["path": .string(error.path)])
    }
  }
}
