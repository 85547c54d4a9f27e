import ArgumentParser
import Waybridge

extension CompletionKind {
  /// Completes nothing, not even files.
  static let nothing = CompletionKind.list([])

  static let json = CompletionKind.file(extensions: ["json"])

  /// The methods that the OpenRPC document of servers describes.
  static let method = CompletionKind.custom { _, _, _ in BridgeServer.methods }

  /// The topics of events that PROTOCOL.md lists.
  static let topic = CompletionKind.list(["page.*", "route.*", "session.*", "task.*"])
}
