import WayNavigation
import WayValues

/// What a call ends with where it does not fail; typed until it is written.
package enum Answer: Sendable {
  /// Of a task, a service, or a method of the protocol.
  case value(Value)
  /// How a page ended.
  case outcome(Outcome)
  /// The description of the protocol.
  case document
  /// What became of the stack. Indirect, since it is large and every answer is handed on.
  indirect case change(StackChange)

  /// As it goes over the wire.
  package var value: Value {
    switch self {
    case .value(let value): value
    case .outcome(let outcome): outcome.value
    case .document: OpenRPC.document
    case .change(let change): change.navigation.value
    }
  }
}

/// By which of the two doors a call comes.
enum Entry {
  /// `router.open`: any route. What is no page ends with the outcome `finished`.
  case open
  /// `router.invoke`, and all that is no opening: the answer as it is.
  case invoke

  /// As the policy is asked about it.
  var method: RouteMethod { self == .open ? .open : .invoke }

  /// What the caller is given.
  func answer(_ answer: Answer) -> Answer {
    switch (self, answer) {
    case (.invoke, _), (_, .outcome): answer
    case (.open, .value), (.open, .change), (.open, .document):
      .outcome(.finished(data: answer.value))
    }
  }
}

/// What carrying out a request gives at once.
enum Reply {
  case now(Answer)
  /// A task has failed, of which all have been told who want to know. What is thrown in place of a
  /// reply has come to no task.
  case failed(CallError)
  /// The answer comes when the call that was begun is settled.
  case later

  static func value(_ value: Value) -> Reply { .now(.value(value)) }
}
