import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// The treatment of a result that does not fit its declaration.
public enum ResultCheck: String, Sendable, CaseIterable {
  /// The call fails with 2502, kind `invalidResult`. A page that would close stays open.
  case reject
  /// The caller gets the result. It is logged and counted.
  case log
}

/// The number of results that did not fit their declarations, by their source.
package typealias InvalidResultCounts = Locked<[InvalidResult.ResultSource: Int]>

/// The declaration of the result that a call waits for. A class, since most calls have none.
final class DeclaredResult: Sendable {
  let schema: ValueSchema
  let source: InvalidResult.ResultSource
  private let route: String
  /// The method of a page; `nil` for the result of a route.
  private let method: String?
  /// The URI of the task or page.
  private let uri: String
  /// The name of the client that returns the result, or `server`.
  private let host: String

  /// The declared result of a route. Returns `nil` if it declares none.
  init?(of route: Route?, at uri: RouteURI, host: String) {
    guard let route, let schema = route.result else { return nil }
    (self.schema, self.route, self.uri, self.host) = (schema, route.name, uri.text, host)
    source = route.kind == .page ? .page : .task
    method = nil
  }

  /// The declared result of a page, or of one of its methods. Returns `nil` if none is declared.
  init?(of page: Page, method: String? = nil, in snapshot: RouterSnapshot, host: String) {
    guard let route = page.route else { return nil }
    let declared =
      if let method {
        snapshot.method(method, ofPagesOf: route)?.result
      } else {
        snapshot.result(ofPagesOf: route)
      }
    guard let declared else { return nil }
    (schema, self.route, self.method, self.host) = (declared, route, method, host)
    uri = page.uri
    source = method == nil ? .page : .method
  }

  /// Returns the report about a result that does not fit.
  func report(_ invalid: InvalidResult, isRejected: Bool) -> InvalidResultReport {
    InvalidResultReport(
      source: source, host: host, uri: uri, route: route, method: method, errors: invalid.faults,
      isRejected: isRejected)
  }

  /// Returns the error of the caller of a task or method.
  func callerError(for invalid: InvalidResult) -> CallError {
    let place = method.map { "method \($0.quoted)" } ?? "route \(route.quoted)"
    return CallError(.hostFailed, for: invalid, "The result of the \(place) does not fit")
  }

  /// Returns the error of the client whose request would close a page.
  func pageError(for invalid: InvalidResult) -> CallError {
    CallError(
      .invalidParameters, for: invalid,
      "The result does not fit the route \(route.quoted), and the page stays open")
  }
}

extension CallError {
  /// The error of an invalid result; `message` says whose it is.
  fileprivate init(_ code: ErrorCode, for invalid: InvalidResult, _ message: String) {
    let faults = invalid.faults.map { "\($0.path): \($0.message)" }.joined(separator: "; ")
    self.init(
      code, "\(message): \(faults)", kind: "invalidResult",
      data: ["errors": invalid.faults.errorsValue])
  }
}
