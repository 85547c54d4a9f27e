import Tracing
import WayRouting
import WayValues

/// The span of one call, if the app has a tracer (swift-distributed-tracing). Confined to the loop
/// of its session.
final class SessionCallSpan: @unchecked Sendable {
  private let span: any Span
  private var isEnded = false

  /// Starts the span of a call as a child of its caller's span. The parent is read from the `exts`
  /// (`traceparent`, W3C Trace Context), or else from the calling Swift code.
  init(
    _ tracer: any Tracer, _ kind: CallKind, _ uri: String, _ exts: ValueObject, _ caller: Caller
  ) {
    var context = ServiceContext.current ?? .topLevel
    tracer.extract(exts, into: &context, using: ExtsExtractor())
    // The query is left out because it may hold secrets.
    let path = String(uri.prefix { $0 != "?" && $0 != "#" })
    span = tracer.startSpan(
      "\(kind.method.name) \(path)", context: context,
      ofKind: caller.client == nil ? .internal : .server)
    span.attributes["rpc.system"] = "jsonrpc"
    span.attributes["rpc.method"] = kind.method.name
    span.attributes["waybridge.session"] = caller.session
    if let client = caller.client { span.attributes["waybridge.client"] = client.id }
    if let user = caller.identity.user { span.attributes["enduser.id"] = user }
  }

  /// Runs work whose own spans become children of this span.
  func run<Success>(_ work: () -> Success) -> Success {
    ServiceContext.$current.withValue(span.context, operation: work)
  }

  /// Returns the `exts` with the headers that carry the span to a host.
  func adding(to exts: ValueObject, _ tracer: any Tracer) -> ValueObject {
    var exts = exts
    tracer.inject(span.context, into: &exts, using: ExtsInjector())
    return exts
  }

  /// Ends the span when the call has a result or an error. Further calls do nothing.
  func end(_ error: CallError?) {
    guard !isEnded else { return }
    isEnded = true
    if let error {
      span.attributes["rpc.jsonrpc.error_code"] = error.code
      span.setStatus(SpanStatus(code: .error, message: error.message))
    }
    span.end()
  }
}

private struct ExtsExtractor: Extractor {
  func extract(key: String, from exts: ValueObject) -> String? { exts[key]?.string }
}

private struct ExtsInjector: Injector {
  func inject(_ value: String, forKey key: String, into exts: inout ValueObject) {
    exts[key] = .string(value)
  }
}
