import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/failures.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'fake_socket.dart';
import 'transcript_client.dart';
import 'transcript_filter.dart';
import 'transcript_matcher.dart';

/// Replays a transcript of protocol/vectors with clients of this package. The
/// test makes the clients send the messages that the transcript sends, and
/// sends them the messages that it expects.
final class TranscriptReplayer {
  TranscriptReplayer(this._vector);

  final Json _vector;
  final Captures _captures = <String, Object?>{};
  final Map<String, TranscriptClient> _clients = <String, TranscriptClient>{};
  int _lastID = 0;

  /// Replays all steps. Throws an error that names the failed step.
  Future<void> replay() async {
    int number = 0;
    for (final each in listOf(_vector['steps'])) {
      number += 1;
      try {
        await _ensureSession(objectOf(each));
        await _step(objectOf(each));
      } catch (cause) {
        throw StateError('step $number, $each: ${messageOf(cause)}');
      }
    }
    for (final client in _clients.values) {
      if (client.errors.isNotEmpty) {
        throw StateError('${client.name} has reported ${client.errors.first}');
      }
      await client.implementation.connection.close();
    }
  }

  /// Opens a session for a client that opens none in the transcript.
  Future<void> _ensureSession(Json step) async {
    final name = stringOf(step['send']) ?? stringOf(step['expect']);
    if (name == null || _clients.containsKey(name)) return;
    if (!plainClients(_vector).contains(name)) return;
    final client = TranscriptClient(name, <String, Object?>{
      'client': <String, Object?>{'name': name, 'version': '1'},
    }, methodsOf(_vector));
    _clients[name] = client;
    client.implementation.connection.start();
    client.server.last.accept();
    await pumpEventQueue();
    final request = client.server.last.dequeue();
    client.server.last.receive(responseTo(request, sessionInfo()));
    await pumpEventQueue();
  }

  Future<void> _step(Json step) async {
    final sender = stringOf(step['send']);
    final receiver = stringOf(step['expect']);
    final closer = stringOf(step['close']);
    final milliseconds = intOf(step['advance']);
    if (sender != null) {
      await _send(sender, objectOf(filled(step['message'], _captures)));
    } else if (receiver != null && step['close'] is int) {
      _client(receiver).server.last.end(intOf(step['close']) ?? 1000);
    } else if (receiver != null && step['any'] != null) {
      for (final each in listOf(step['any'])) {
        await _receive(_client(receiver), objectOf(each));
      }
    } else if (receiver != null) {
      await _receive(_client(receiver), objectOf(step['message']));
    } else if (closer != null) {
      await _client(closer).implementation.connection.close();
    } else if (milliseconds != null) {
      for (final client in _clients.values) {
        client.clock.advance(milliseconds);
      }
    }
    await pumpEventQueue();
  }

  TranscriptClient _client(String name) {
    final client = _clients[name];
    if (client != null) return client;
    throw StateError('the transcript has not opened a session for $name');
  }

  // Messages that the transcript sends.

  Future<void> _send(String name, Json message) async {
    final id = message['id'];
    final method = stringOf(message['method']);
    if (method == 'session.open') return _open(name, message);
    final client = _client(name);
    if (method == r'$/cancelRequest') {
      final call = client.calls[objectOf(message['params'])['id']];
      // A client sends nothing about a settled call.
      if (call == null || call.isOver) return;
      call.cancellation.cancel();
    } else if (method == r'$/progress') {
      final params = objectOf(message['params']);
      final pending = client.requests[params['id']];
      if (pending == null) return;
      pending.call?.progress(params['value']);
    } else if (method != null) {
      final params = message['params'];
      if (method == 'host.register') {
        client.addHosts(objectOf(params)['hosts']);
      }
      client.request(id, method, params == null ? null : objectOf(params));
    } else {
      _respond(client, id, message);
    }
    await pumpEventQueue();
    _compare(client, message, client.server.last.dequeue());
  }

  Future<void> _open(String name, Json message) async {
    final request = objectOf(message['params']);
    final client = TranscriptClient(name, request, methodsOf(_vector));
    _clients[name] = client;
    client.implementation.connection.start();
    client.server.last.accept();
    await pumpEventQueue();
    final sent = client.server.last.dequeue();
    final made = TranscriptCall(isOpenRequest: true);
    made.id = sent['id'];
    client.calls[message['id']] = made;
    final params = objectOf(sent['params']);
    final own = withoutNulls(<String, Object?>{...params, 'hosts': null});
    final other = withoutNulls(<String, Object?>{...request, 'hosts': null});
    expect(difference(other, own), null);
    expect(listOf(params['hosts']).length, listOf(request['hosts']).length);
  }

  void _respond(TranscriptClient client, Object? id, Json message) {
    final pending = client.requests.remove(id);
    // The client closes a page that no host shows at once.
    if (pending == null) return;
    final error = objectOf(message['error']);
    final code = intOf(error['code']);
    if (code == null) {
      pending.response.complete(message['result']);
      return;
    }
    final text = stringOf(error['message']) ?? '';
    final kind = objectOf(error['data'])['kind'];
    if (kind == 'declined') {
      pending.response.completeError(DeclinedException(text));
    } else {
      pending.response.completeError(
        bridgeException(code, text, data: error['data']),
      );
    }
  }

  /// Compares a sent message with the transcript, except ids, which the client
  /// chooses, and errors of hosts that are not errors of the application.
  void _compare(TranscriptClient client, Json expected, Json sent) {
    final method = stringOf(expected['method']);
    final code = intOf(objectOf(expected['error'])['code']);
    if (method == r'$/cancelRequest') {
      final made = client.calls[objectOf(expected['params'])['id']];
      expect(objectOf(sent['params'])['id'], made?.id);
    } else if (method != null && expected.containsKey('id')) {
      final made = client.calls[expected['id']];
      if (made != null) made.id = sent['id'];
      final own = <String, Object?>{...sent, 'id': expected['id']};
      expect(difference(expected, own), null);
    } else if (code != null && !ErrorCode.isApplication(code)) {
      expect(sent['id'], expected['id']);
      final received = objectOf(sent['error'])['code'];
      expect(received == code || received == ErrorCode.hostFailed, true);
    } else {
      expect(difference(expected, sent), null);
    }
  }

  // Messages that the transcript expects.

  Future<void> _receive(TranscriptClient client, Json pattern) async {
    final message = objectOf(generated(pattern, _captures));
    final id = message['id'];
    final method = stringOf(message['method']);
    final socket = client.server.last;
    if (method == null) return _receiveResponse(client, socket, message);
    final params = objectOf(message['params']);
    if (method == r'$/progress') {
      final call = client.calls[params['id']];
      final received = <String, Object?>{...params, 'id': call?.id};
      socket.receive(<String, Object?>{...message, 'params': received});
      await pumpEventQueue();
      final progress = call?.progressValues ?? <Object?>[];
      expect(difference(params['value'], progress.last), null);
      return;
    }
    _complete(client, method, params);
    if (id is Map<String, Object?>) {
      _lastID += 1;
      message['id'] = 'nobody-answers-$_lastID';
    }
    socket.receive(message);
    await pumpEventQueue();
    if (method == r'$/cancelRequest') {
      final pending = client.requests[params['id']];
      expect(pending?.call?.cancellation.isCancelled ?? true, true);
    } else if (message.containsKey('id')) {
      if (client.unassigned.isNotEmpty) {
        client.requests[id] = client.unassigned.removeAt(0);
      } else if (method != 'page.close') {
        throw StateError('$method reached no host');
      }
    }
  }

  /// Returns a complete result of `session.open`.
  Json _openResult(Json received) {
    final whole = sessionInfo();
    for (final name in received.keys) {
      final value = received[name];
      if (value is! Map<String, Object?>) whole[name] = value;
    }
    whole['capabilities'] = <String>[];
    return whole;
  }

  /// Adds the values that a transcript leaves open.
  void _complete(TranscriptClient client, String method, Json params) {
    if (method == 'page.open') {
      final page = <String, Object?>{...objectOf(params['page'])};
      final scheme = client.schemeOfPages;
      page['uri'] ??= '$scheme://made-up';
      page['id'] ??= 'made-up-page';
      params['page'] = page;
      final uri = stringOf(page['uri']) ?? '';
      params['host'] = client.chosenFor('page', uri);
    } else if (method == 'task.run') {
      params['uri'] ??= client.firstTask;
      final uri = stringOf(params['uri']) ?? '';
      params['host'] = client.chosenFor('task', uri);
    }
  }

  Future<void> _receiveResponse(
    TranscriptClient client,
    FakeSocket socket,
    Json message,
  ) async {
    final call = client.calls[message['id']];
    if (call == null) throw StateError('nothing was asked by that id');
    final received = message['result'];
    final result = call.isOpenRequest
        ? _openResult(objectOf(received))
        : received;
    socket.receive(<String, Object?>{
      ...message,
      'id': call.id,
      if (message.containsKey('result')) 'result': result,
    });
    await pumpEventQueue();
    final error = objectOf(message['error']);
    if (call.isOpenRequest) {
      final state = client.implementation.connection.bridgeState;
      expect(state == BridgeState.open, error.isEmpty);
      return;
    }
    expect(call.isOver, true);
    if (message.containsKey('error')) {
      expect(call.error?.code, error['code']);
      expect(difference(error['data'], call.error?.data), null);
    } else {
      expect(difference(result, call.result), null);
      if (call.isAdopting) {
        final page = BridgePage(objectOf(result));
        client.implementation.hosts.handlers.pages.adopt(page, null);
      }
    }
  }
}
