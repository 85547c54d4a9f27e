/// A WebSocket, in the shape of `WebSocketChannel` of the package
/// `web_socket_channel`: what is of the same name there means the same.
/// `ChannelSocket` of `package:waybridge/channel.dart` makes one of a channel.
abstract interface class BridgeSocket {
  /// Ends when the socket is open, or with the error for which it is not.
  Future<void> get ready;

  /// The messages, each a `String` where it is text. It is listened to once,
  /// at once, and is done when the socket is closed.
  Stream<Object?> get stream;

  /// The subprotocol that the server has chosen, once it is [ready].
  String? get protocol;

  /// The code with which the socket was closed, once [stream] is done.
  int? get closeCode;

  /// The reason with which the socket was closed, once [stream] is done.
  String? get closeReason;

  /// Sends a text.
  void add(String text);

  /// Begins to close the socket.
  void close(int code, String reason);
}

/// Makes a socket to an address that offers these subprotocols. What it throws
/// is the end: an address that is none, for one. What fails later,
/// [BridgeSocket.ready] tells, and is tried again.
typedef Connector = BridgeSocket Function(Uri url, List<String> protocols);
