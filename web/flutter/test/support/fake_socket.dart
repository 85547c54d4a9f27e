import 'dart:async';
import 'dart:convert';

import 'package:waybridge/src/socket.dart';
import 'package:waybridge/src/values.dart';

/// A socket whose other side is the test.
final class FakeSocket implements BridgeSocket {
  final Completer<void> _ready = Completer<void>();
  final StreamController<Object?> _incoming = StreamController<Object?>();

  /// What the client has sent and nobody has looked at yet.
  final List<Json> sent = <Json>[];

  /// With what the client has closed the socket.
  int? closedWith;
  int? _closeCode;
  String? _protocol;

  @override
  Future<void> get ready => _ready.future;

  @override
  Stream<Object?> get stream => _incoming.stream;

  @override
  String? get protocol => _protocol;

  @override
  int? get closeCode => _closeCode;

  @override
  String? get closeReason => '';

  @override
  void add(String text) => sent.add(objectOf(jsonDecode(text)));

  @override
  void close(int code, String reason) {
    closedWith = code;
    end(code);
  }

  /// The handshake succeeds.
  void open([String chosen = 'waybridge.v1']) {
    _protocol = chosen;
    _ready.complete();
  }

  /// The handshake fails.
  void refuse() => _ready.completeError(StateError('refused'));

  /// A message comes.
  void push(Json message) => _incoming.add(jsonEncode(message));

  /// The socket closes.
  void end(int code) {
    if (_incoming.isClosed) return;
    _closeCode = code;
    unawaited(_incoming.close());
  }

  /// The next message that the client has sent.
  Json take() {
    if (sent.isEmpty) throw StateError('the client has sent nothing');
    return sent.removeAt(0);
  }
}

/// Hands out fake sockets, and keeps them.
final class FakeServer {
  final List<FakeSocket> sockets = <FakeSocket>[];

  /// The connector of a client.
  BridgeSocket connect(Uri url, List<String> protocols) {
    final socket = FakeSocket();
    sockets.add(socket);
    return socket;
  }

  /// The last socket that was asked for.
  FakeSocket get last => sockets.last;
}

/// The answer to a request that a client has sent.
Json answerTo(Json request, Object? result) {
  return <String, Object?>{
    'jsonrpc': '2.0',
    'id': request['id'],
    'result': result,
  };
}

/// What a server says of a session that has opened.
Json sessionInfo([List<String> capabilities = const <String>[]]) {
  return <String, Object?>{
    'session': 's-1',
    'client': 'c-1',
    'token': 't-1',
    'joinToken': 'j-1',
    'epoch': 'e-1',
    'protocol': '1.0',
    'server': <String, Object?>{'name': 'fake', 'version': '1'},
    'limits': <String, Object?>{'maxMessage': 1048576},
    'table': <String, Object?>{'version': '1', 'hash': 'h'},
    'capabilities': capabilities,
  };
}
