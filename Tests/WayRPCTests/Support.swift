import WayRPC
import WayValues

func decoded(_ text: String, with decoder: MessageDecoder = MessageDecoder()) -> FrameContent {
  decoder.decode(Array(text.utf8).span.bytes)
}

/// Returns a short summary of decoded content for tables: `request 1 m [1]`, `notification m`,
/// `result 1 2`, `failure 1 -32000 text`, `invalid 1 -32600`, `malformed -32700`. The messages of a
/// batch are in brackets.
func summary(_ incoming: FrameContent) -> String {
  switch incoming {
  case .message(let message): summary(message)
  case .batch(let messages): "[\(messages.map(summary).joined(separator: ", "))]"
  case .malformed(let error): "malformed \(error.code)"
  }
}

func summary(_ message: Message) -> String {
  switch message {
  case .request(let request):
    "request \(request.id) \(request.method)" + (request.params.map { " " + compact($0) } ?? "")
  case .notification(let notification):
    "notification \(notification.method)" + (notification.params.map { " " + compact($0) } ?? "")
  case .response(let response):
    switch response.result {
    case .success(let value): "result \(response.id) \(compact(value))"
    case .failure(let error): "failure \(response.id) \(error.code)"
    }
  case .invalid(let id, let error): "invalid \(id) \(error.code)"
  }
}

func compact(_ value: Value) -> String {
  var writer = JSONWriter()
  do {
    try writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  } catch {
    return "\(error)"
  }
}

extension MessageWriter {
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Returns nested lists of this depth.
func nestedList(_ levels: Int) -> Value {
  var value = Value.array([])
  for _ in 1..<levels { value = .array([value]) }
  return value
}
