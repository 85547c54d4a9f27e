import WayTransport

/// Returns every message unchanged.
struct BridgeEchoAcceptor: ChannelAcceptor {
  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    EchoReceiver(channel: channel)
  }

  private final class EchoReceiver: MessageReceiver {
    private let channel: any MessageChannel

    init(channel: any MessageChannel) {
      self.channel = channel
    }

    func receive(_ message: RawSpan, as kind: MessageKind) {
      channel.send(message, as: kind)
    }

    func closed(_ code: UInt16?) {}
  }
}
