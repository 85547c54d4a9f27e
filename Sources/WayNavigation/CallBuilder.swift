import WayValues

/// A call that is built step by step. Each step returns a new value and nothing is called before
/// the last one. A builder may be kept, varied and reused, from any thread.
///
/// ```swift
/// try router.task("action://pick") { call in
///   let list = call.navigator.build("native://address/list").with("pick", true)
///   return try await list.style(.present).open().data
/// }
/// ```
public struct CallBuilder<Caller: Sendable>: Sendable {
  package let caller: Caller
  package let uri: String
  package private(set) var params = ValueObject()
  package private(set) var exts = ValueObject()
  package private(set) var style: Style?
  /// The id of the page that opens another, if the caller may set it.
  package var from: String?
  package private(set) var timeout: Duration?
  /// The idempotency key of the call, if the caller may set it.
  package var key: String?
  /// The attachments of the call, if it stays in the process.
  package var attachments: [String: any Sendable] = [:]

  package init(_ caller: Caller, _ uri: String) {
    self.caller = caller
    self.uri = uri
  }

  /// Sets a parameter, which overrides that of the URI; the last value of a name counts.
  public func with(_ name: String, _ value: Value) -> Self {
    changed { $0.params[name] = value }
  }

  /// Sets parameters as ``with(_:_:)`` does; those of other names stay.
  public func with(_ params: ValueObject) -> Self {
    changed { $0.params.merge(params) }
  }

  /// Sets an option that is no business data, for example `animated`; the last value of a name
  /// counts.
  public func exts(_ name: String, _ value: Value) -> Self {
    changed { $0.exts[name] = value }
  }

  /// Sets several options as ``exts(_:_:)`` does; those of other names stay.
  public func exts(_ exts: ValueObject) -> Self {
    changed { $0.exts.merge(exts) }
  }

  /// Sets the style of an opened page. With `nil` the router decides; its default is `push`. The
  /// style has no effect on a task or service.
  public func style(_ style: Style?) -> Self {
    changed { $0.style = style }
  }

  /// Sets the time within which the page must be shown, or the task done; `nil` for no limit.
  public func timeout(_ timeout: Duration?) -> Self {
    changed { $0.timeout = timeout }
  }

  package func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}
