import 'dart:convert';

import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'serving.dart';
import 'values.dart';

/// Takes what comes: JSON-RPC 2.0 as texts. It knows no socket and no route.
final class Peer {
  Peer(this._client)
    : serving = Serving(_client.calling, _client.report);

  final Client _client;

  /// What it was asked.
  final Serving serving;

  /// Takes one incoming message.
  void receive(Object? data) {
    final message = _read(data);
    if (message['jsonrpc'] != '2.0') return _ignore();
    final id = message['id'];
    final method = message['method'];
    final isCall = method is String;
    final isRequest = isCall && message.containsKey('id');
    final resumption = _client.resumption;
    if (method == r'$/ack' && !isRequest) {
      resumption?.acknowledged(objectOf(message['params'])['seq']);
      return;
    }
    final units = data is String ? data.length : 0;
    if (resumption != null && !resumption.takes(message, units)) return;
    if (method is String) {
      if (isRequest) {
        _asked(id, method, message['params']);
      } else {
        _notified(method, objectOf(message['params']));
      }
    } else if (_isResponse(message)) {
      _client.calling.answered(message);
    } else {
      _ignore();
    }
  }

  Json _read(Object? data) {
    if (data is! String) return <String, Object?>{};
    try {
      return objectOf(jsonDecode(data));
    } on FormatException {
      return <String, Object?>{};
    }
  }

  bool _isResponse(Json message) {
    if (!message.containsKey('id') || message.containsKey('method')) {
      return false;
    }
    return message.containsKey('result') != message.containsKey('error');
  }

  void _asked(Object? id, String method, Object? params) {
    if (id != null && id is! String && id is! num) return _ignore();
    if (method == r'$/ping') {
      _client.calling.send(
        jsonEncode(<String, Object?>{
          'jsonrpc': '2.0',
          'id': id,
          'result': null,
        }),
        isBare: true,
      );
      return;
    }
    final handler = _client.duties.request(method);
    final members = objectOf(params);
    _client.own(serving.serve(id, method, members, handler));
  }

  void _notified(String method, Json params) {
    if (method == r'$/cancelRequest') {
      serving.cancel(params['id']);
    } else if (method == r'$/progress') {
      _progressed(params);
    } else if (method == 'event') {
      _client.news.hear(params);
    } else {
      _client.own(_heard(method, params));
    }
  }

  void _progressed(Json params) {
    final call = _client.calling.running(params['id']);
    if (call == null) return;
    try {
      call.progress(params['value']);
    } catch (cause) {
      _failed('onProgress of ${call.asked.method}', cause);
    }
  }

  Future<void> _heard(String method, Json params) async {
    final handler = _client.duties.notification(method);
    if (handler == null) return;
    try {
      await handler(params);
    } catch (cause) {
      _failed(method, cause);
    }
  }

  /// The application's code has failed, which must not stop the connection's.
  void _failed(String what, Object cause) {
    final why = '$what failed: ${messageOf(cause)}';
    _client.report(failure(ErrorCode.internal, why, cause: cause));
  }

  void _ignore() {
    _client.report(
      failure(
        ErrorCode.invalidRequest,
        'ignored a message that is no JSON-RPC 2.0',
      ),
    );
  }
}
