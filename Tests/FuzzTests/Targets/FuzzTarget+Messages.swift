import WayValues

@testable import WayRPC

extension FuzzTarget {
  /// JSON: a value that is written again is the same value, and the fault of a rejected text lies in it.
  static let json = FuzzTarget("json") { bytes throws(FuzzFailure) in
    let value: Value
    do throws(JSONError) {
      value = try JSON.parse(bytes.span.bytes)
    } catch {
      let offset = error.offset ?? 0
      try FuzzFailure.unless((0...bytes.count).contains(offset), "the fault is at \(offset)")
      return
    }
    let scanned = JSONScanner.firstError(in: bytes)
    try FuzzFailure.unless(scanned == nil, "the scanner rejects it: \(scanned.debugDescription)")
    guard let text = try? JSON.text(value) else { throw FuzzFailure("it cannot be written") }
    try FuzzFailure.unless((try? JSON.parse(text)) == value, "written again it is \(text)")
    // If no name occurs twice, both policies give the same value.
    let strict = try? JSON.parse(bytes.span.bytes, duplicateNames: .reject)
    try FuzzFailure.unless(strict == nil || strict == value, "without duplicates it differs")
  }

  /// JSON-RPC frames: a message that is written again is the same message, and what is invalid has an
  /// error that can be sent.
  static let messages = FuzzTarget("messages") { bytes throws(FuzzFailure) in
    let decoder = MessageDecoder(maxBatch: 8, maxValues: 512)
    var numbers = SequenceNumbers.none
    let read: [Message]
    switch decoder.decode(bytes.span.bytes, &numbers) {
    case .message(let message): read = [message]
    case .batch(let messages):
      try FuzzFailure.unless((1...8).contains(messages.count), "a batch of \(messages.count)")
      read = messages
    case .malformed(let error): read = [.invalid(.null, error)]
    }
    try FuzzFailure.unless(numbers.last >= numbers.first || numbers.areInvalid, "\(numbers)")
    for message in read {
      var writer = MessageWriter()
      let isWritten: Void?
      switch message {
      case .request(let request):
        isWritten = try? writer.writeRequest(request.id, request.method, request.params)
      case .notification(let notification):
        isWritten = try? writer.writeNotification(notification.method, notification.params)
      case .response(let response): isWritten = writer.writeResult(response.id, response.result)
      case .invalid(let id, let error):
        writer.writeError(id, error)
        let frame = decoder.decode(writer.bytes.span.bytes)
        guard case .message(.response(let response)) = frame, response.id == id.comparedByValue
        else {
          throw FuzzFailure("the error cannot be read: \(frame)")
        }
        continue
      }
      try FuzzFailure.unless(isWritten != nil, "\(message) cannot be written")
      let again = decoder.decode(writer.bytes.span.bytes)
      try FuzzFailure.unless(again == .message(message), "written again it is \(again)")
    }
  }
}
