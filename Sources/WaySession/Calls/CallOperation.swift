import WayRouting
import WayValues

/// The work of a call. A value, so that the call of an idempotency key can start again.
enum CallOperation {
  /// Opens or invokes a URI.
  case route(CallKind, uri: String, SessionCallOptions)
  case pageMethod(PageMethodRequest)
  case clientMethod(ClientMethodRequest)
  case stackEdit(StackEditRequest)
  /// Delivers a deep link that a client has sent. `keyOwner` is the owner of its idempotency key.
  case deepLink(DeepLink, sender: Client, keyOwner: String?)

  var kind: CallKind {
    if case .route(let kind, _, _) = self { kind } else { .invoke }
  }

  /// The rights of the caller.
  var rights: Rights {
    switch self {
    case .route(_, _, let options): options.rights
    case .pageMethod(let pageRequest): pageRequest.rights
    case .clientMethod(let clientRequest): clientRequest.rights
    case .stackEdit(let edit): edit.rights
    case .deepLink(_, let sender, _): sender.rights
    }
  }

  /// The URI whose failure is reported if no work has begun; `nil` if the call reports its own.
  var uri: String? {
    switch self {
    case .route(_, let uri, _): uri
    case .deepLink(let link, _, _): link.uri
    case .pageMethod, .clientMethod, .stackEdit: nil
    }
  }

  /// The URI, or the id of the page, that the call is about; `nil` if it is about neither.
  var target: String? {
    if case .pageMethod(let pageRequest) = self { pageRequest.page } else { uri }
  }

  /// The timeout of the call; `nil` without a limit, or if its request to a client has the timeout.
  var timeout: Duration? {
    switch self {
    case .route(_, _, let options): options.timeout
    case .pageMethod(let pageRequest): pageRequest.timeout
    case .stackEdit(let edit): edit.timeout
    case .clientMethod, .deepLink: nil
    }
  }
}

/// The call of a method of an open page.
struct PageMethodRequest {
  /// The id of the page.
  let page: String
  let method: String
  var params: ValueObject
  let rights: Rights
  /// `nil` waits without a limit.
  let timeout: Duration?
  var key: RouterIdempotencyKey?
  /// The client that makes the call, which does not serve it.
  var excludedClient: ClientID?

  /// The params of the request to the client that serves it.
  var requestParams: ValueObject {
    var request: ValueObject = [
      "page": .string(page), "method": .string(method), "params": .object(params),
      "caller": rights.callerValue,
    ]
    request["key"] = key.map { .string($0.text) }
    return request
  }

  /// The approximate memory of the call, in bytes.
  var size: Int { page.utf8.count + method.utf8.count + Value.object(params).size }
}

/// A request of a method that the client itself defines.
struct ClientMethodRequest {
  /// The name of the client.
  let client: String
  let method: String
  let params: ValueObject
  let rights: Rights
  /// `nil` waits without a limit.
  let timeout: Duration?
}
