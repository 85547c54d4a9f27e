import WayValues

/// A call that is put together step by step. Each step gives a new value and nothing is called
/// before the last one, so that a builder may be kept, varied and used again, from any thread.
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
  /// The id of the page that opens another, where the caller may say so.
  package var from: String?
  package private(set) var deadline: Duration?
  /// Under which the call is made once, where the caller may say so.
  package var key: String?
  /// What the call carries, where it stays in the process.
  package var carried: [String: any Sendable] = [:]

  package init(_ caller: Caller, _ uri: String) {
    self.caller = caller
    self.uri = uri
  }

  /// Sets a parameter, which wins over that of the URI; the last value of a name counts.
  public func with(_ name: String, _ value: Value) -> Self {
    changed { $0.params[name] = value }
  }

  /// Sets parameters as ``with(_:_:)`` does; those of other names stay.
  public func with(_ params: ValueObject) -> Self {
    changed { $0.params.merge(params) }
  }

  /// Sets one of what is no business data, `animated` for instance; the last value of a name
  /// counts.
  public func exts(_ name: String, _ value: Value) -> Self {
    changed { $0.exts[name] = value }
  }

  /// Sets several as ``exts(_:_:)`` does; those of other names stay.
  public func exts(_ exts: ValueObject) -> Self {
    changed { $0.exts.merge(exts) }
  }

  /// How an opened page takes its place; nil leaves it to the router, which pushes. What is invoked
  /// takes no place.
  public func style(_ style: Style?) -> Self {
    changed { $0.style = style }
  }

  /// Within this time the page must be shown, or the task done; nil waits as long as it takes.
  public func deadline(_ deadline: Duration?) -> Self {
    changed { $0.deadline = deadline }
  }

  package func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}
