import Tracing
import WayRouting
import WayValues

/// The span of one call, where the app has a tracer (swift-distributed-tracing). Confined to the
/// loop of its session.
final class SessionCallSpan: @unchecked Sendable {
  private let span: any Span
  private var isEnded = false

  /// Begins the span of a call, below that of its caller: the one that the `exts` tell
  /// (`traceparent`, W3C Trace Context), else that of the Swift code that calls.
  init(_ tracer: any Tracer, _ entry: Entry, _ uri: String, _ exts: ValueObject, _ caller: Caller) {
    var context = ServiceContext.current ?? .topLevel
    tracer.extract(exts, into: &context, using: ExtsExtractor())
    // A query may hold secrets.
    let place = String(uri.prefix { $0 != "?" && $0 != "#" })
    span = tracer.startSpan(
      "\(entry.method.name) \(place)", context: context,
      ofKind: caller.client == nil ? .internal : .server)
    span.attributes["rpc.system"] = "jsonrpc"
    span.attributes["rpc.method"] = entry.method.name
    span.attributes["waybridge.session"] = caller.session
    if let client = caller.client { span.attributes["waybridge.client"] = client.id }
    if let user = caller.identity.user { span.attributes["enduser.id"] = user }
  }

  /// Does work whose own spans lie below this one.
  func run<Success>(_ work: () -> Success) -> Success {
    ServiceContext.$current.withValue(span.context, operation: work)
  }

  /// The `exts` with what tells a host of the span.
  func adding(to exts: ValueObject, _ tracer: any Tracer) -> ValueObject {
    var exts = exts
    tracer.inject(span.context, into: &exts, using: ExtsInjector())
    return exts
  }

  /// The call has its answer.
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
