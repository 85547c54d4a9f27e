import ArgumentParser
import Waybridge

extension CompletionKind {
  /// Neither files nor anything else.
  static let nothing = CompletionKind.list([])

  static let json = CompletionKind.file(extensions: ["json"])

  /// The methods that a bridge's OpenRPC document describes.
  static let method = CompletionKind.custom { _, _, _ in BridgeServer.methods }

  /// The kinds of events that PROTOCOL.md names.
  static let topic = CompletionKind.list(["page.*", "route.*", "session.*", "task.*"])
}
