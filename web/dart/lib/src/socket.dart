/// A WebSocket. The names and meanings are those of `WebSocketChannel` of the
/// package `web_socket_channel`; `ChannelSocket` of
/// `package:waybridge/channel.dart` adapts such a channel.
abstract interface class BridgeSocket {
  /// Completes when the socket is open, or with the error if it failed to open.
  Future<void> get ready;

  /// The received messages; a text message is a `String`. The client listens
  /// once, immediately. The stream is done when the socket is closed.
  Stream<Object?> get stream;

  /// The subprotocol that the server has chosen, once it is [ready].
  String? get protocol;

  /// The code with which the socket was closed, once [stream] is done.
  int? get closeCode;

  /// The reason with which the socket was closed, once [stream] is done.
  String? get closeReason;

  /// Sends a text message.
  void add(String text);

  /// Starts to close the socket.
  void close(int code, String reason);
}

/// Creates a socket to a URL that offers these subprotocols. If it throws, for
/// example because the URL is invalid, the client does not try again. Later
/// errors are those of [BridgeSocket.ready], and the client reconnects.
typedef Connector = BridgeSocket Function(Uri url, List<String> protocols);
