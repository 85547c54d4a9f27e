import TestSupport
import Testing
import WayTransport

/// The producer of a streamed response, which a test leads.
final class RecordingProducer: HTTPStreamProducer {
  let writers = Mailbox<any HTTPStreamWriter>()
  let drained = Mailbox<any HTTPStreamWriter>()
  let ends = Mailbox<HTTPStreamEnd>()
  private let endsAtDrain: Bool

  init(endsAtDrain: Bool = true) {
    self.endsAtDrain = endsAtDrain
  }

  func start(_ writer: any HTTPStreamWriter) { writers.put(writer) }

  func finishEarly(_ writer: any HTTPStreamWriter) {
    drained.put(writer)
    if endsAtDrain { writer.end() }
  }

  func ended(_ end: HTTPStreamEnd) { ends.put(end) }

  /// The writer, once the stream has started.
  func writer() async throws -> any HTTPStreamWriter {
    try #require(await writers.next(within: .seconds(10)))
  }

  /// The end. It is recorded again, if a second one follows.
  func end() async throws -> HTTPStreamEnd {
    try #require(await ends.next(within: .seconds(10)))
  }
}
