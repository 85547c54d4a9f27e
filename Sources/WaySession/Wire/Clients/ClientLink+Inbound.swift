import WayRPC
import WayValues

/// The decision about a frame of a resumable client, before its content is handled.
enum InboundFrameDecision: Equatable {
  case accept
  /// Accept a ping. Neither it nor its response has a number.
  case acceptUnnumbered
  /// Drop a message that was received before.
  case drop
  /// Release the messages that the client has acknowledged.
  case acknowledged
  /// Accept the frame. The client does not number its messages, so it cannot resume.
  case stopNumbering
  /// Close the connection for this reason.
  case close(String)
}

extension ClientLink {
  /// Decides about a frame of a resumable client, whose messages have these numbers. `bytes` is its
  /// size.
  mutating func admit(
    _ frame: borrowing FrameView, _ numbers: SequenceNumbers, bytes: Int
  ) -> InboundFrameDecision {
    if numbers.areAbsent { return admitUnnumbered(frame) }
    return switch receive(numbers, bytes: bytes) {
    case nil, .accept: .accept
    case .duplicate: .drop
    case .gap: .close("the message after seq \(received) is missing")
    }
  }

  private mutating func admitUnnumbered(_ frame: borrowing FrameView) -> InboundFrameDecision {
    switch frame {
    case .decoded(.malformed), .decoded(.message(.invalid)), .invalidUTF8: return .accept
    case .decoded(.message(.response(let response))) where response.isUnreadable: return .accept
    case .request(let request) where request.id == nil && request.hasMethod("$/ack"):
      return receiveAcknowledgement(request.params.value)
    case .request(let request) where request.id != nil && request.hasMethod("$/ping"):
      return .acceptUnnumbered
    case .request, .decoded:
      return numbersMessages ? .close("a message has no seq") : .stopNumbering
    }
  }

  private mutating func receiveAcknowledgement(_ params: Value?) -> InboundFrameDecision {
    guard let number = params?["seq"]?.exactInteger, number >= 0,
      receiveAcknowledgement(of: UInt64(number))
    else { return .close("an ack of a message that was never sent") }
    confirmNumbering()
    return .acknowledged
  }
}
