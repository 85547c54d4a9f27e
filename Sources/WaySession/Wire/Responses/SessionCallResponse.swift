import WayNavigation
import WayValues

/// The result of a successful call, typed until it is encoded.
package enum SessionCallResponse: Sendable {
  /// The value of a task, a service, or a method of the protocol.
  case value(Value)
  /// The outcome of a page.
  case outcome(Outcome)
  /// The description of the protocol.
  case openRPCDocument
  /// The change of the stack. Indirect, since it is large and every response is passed on.
  indirect case stackChange(StackChange)

  /// The value that is sent over the wire.
  package var value: Value {
    switch self {
    case .value(let value): value
    case .outcome(let outcome): outcome.value
    case .openRPCDocument: OpenRPC.document
    case .stackChange(let change): change.navigation.value
    }
  }
}

/// The method by which a call is made.
enum CallKind {
  /// `router.open`: any route. If the route is not a page, the outcome is `finished`.
  case open
  /// `router.invoke`, and all calls that open nothing: the response is unchanged.
  case invoke

  /// The method that the policy authorizes.
  var method: PolicyRouteMethod { self == .open ? .open : .invoke }

  /// The response that the caller gets.
  func adapted(_ response: SessionCallResponse) -> SessionCallResponse {
    switch (self, response) {
    case (.invoke, _), (_, .outcome): response
    case (.open, .value), (.open, .stackChange), (.open, .openRPCDocument):
      .outcome(.finished(data: response.value))
    }
  }
}

/// The immediate outcome of performing a request.
enum CallDisposition {
  case now(SessionCallResponse)
  /// A task has failed, and the failure is reported already. An error that is thrown instead has
  /// not reached a task.
  case failed(CallError)
  /// The response follows when the started call is settled.
  case later

  static func value(_ value: Value) -> CallDisposition { .now(.value(value)) }
}
