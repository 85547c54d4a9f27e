/// Connects a bridge with channels of the package `web_socket_channel`.
library;

import 'package:web_socket_channel/web_socket_channel.dart';

import 'src/socket.dart';

/// Adapts a [WebSocketChannel] to the socket interface of a bridge.
final class ChannelSocket implements BridgeSocket {
  ChannelSocket(this._channel);

  final WebSocketChannel _channel;

  @override
  Future<void> get ready => _channel.ready;

  @override
  Stream<Object?> get stream => _channel.stream;

  @override
  String? get protocol => _channel.protocol;

  @override
  int? get closeCode => _channel.closeCode;

  @override
  String? get closeReason => _channel.closeReason;

  @override
  void add(String text) => _channel.sink.add(text);

  @override
  void close(int code, String reason) {
    // A socket that failed to open has nothing to close.
    _channel.sink.close(code, reason).ignore();
  }
}

/// The connector for the current platform.
BridgeSocket connectChannel(Uri url, List<String> protocols) {
  return ChannelSocket(WebSocketChannel.connect(url, protocols: protocols));
}
