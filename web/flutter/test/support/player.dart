import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/states.dart';
import 'package:waybridge/src/values.dart';

import 'actor.dart';
import 'fake_socket.dart';
import 'matching.dart';
import 'playable.dart';

/// Plays a transcript of protocol/vectors with clients of this package: what
/// the transcript sends they are made to send, what it expects the test sends
/// to them.
final class Player {
  Player(this._vector);

  final Json _vector;
  final Captures _captures = <String, Object?>{};
  final Map<String, Actor> _actors = <String, Actor>{};
  int _lastID = 0;

  /// Plays all steps. Throws with the step that went otherwise.
  Future<void> play() async {
    int number = 0;
    for (final each in listOf(_vector['steps'])) {
      number += 1;
      try {
        await _begin(objectOf(each));
        await _step(objectOf(each));
      } catch (cause) {
        throw StateError('step $number, $each: ${messageOf(cause)}');
      }
    }
    for (final actor in _actors.values) {
      if (actor.errors.isNotEmpty) {
        throw StateError('${actor.name} has reported ${actor.errors.first}');
      }
      await actor.client.link.close();
    }
  }

  /// A client that opens no session in the transcript has one all the same.
  Future<void> _begin(Json step) async {
    final name = textOf(step['send']) ?? textOf(step['expect']);
    if (name == null || _actors.containsKey(name)) return;
    if (!plainClients(_vector).contains(name)) return;
    final actor = Actor(name, <String, Object?>{
      'client': <String, Object?>{'name': name, 'version': '1'},
    }, methodsOf(_vector));
    _actors[name] = actor;
    actor.client.link.start();
    actor.server.last.open();
    await pumpEventQueue();
    final hello = actor.server.last.take();
    actor.server.last.push(answerTo(hello, sessionInfo()));
    await pumpEventQueue();
  }

  Future<void> _step(Json step) async {
    final sender = textOf(step['send']);
    final receiver = textOf(step['expect']);
    final leaver = textOf(step['close']);
    final passed = intOf(step['advance']);
    if (sender != null) {
      await _send(sender, objectOf(filled(step['message'], _captures)));
    } else if (receiver != null && step['close'] is int) {
      _actor(receiver).server.last.end(intOf(step['close']) ?? 1000);
    } else if (receiver != null && step['any'] != null) {
      for (final each in listOf(step['any'])) {
        await _receive(_actor(receiver), objectOf(each));
      }
    } else if (receiver != null) {
      await _receive(_actor(receiver), objectOf(step['message']));
    } else if (leaver != null) {
      await _actor(leaver).client.link.close();
    } else if (passed != null) {
      for (final actor in _actors.values) {
        actor.clock.advance(passed);
      }
    }
    await pumpEventQueue();
  }

  Actor _actor(String name) {
    final actor = _actors[name];
    if (actor != null) return actor;
    throw StateError('the transcript has not opened a session for $name');
  }

  // What the transcript sends, a client is made to send.

  Future<void> _send(String name, Json message) async {
    final id = message['id'];
    final method = textOf(message['method']);
    if (method == 'session.open') return _open(name, message);
    final actor = _actor(name);
    if (method == r'$/cancelRequest') {
      final call = actor.calls[objectOf(message['params'])['id']];
      // A client has nothing to say of a call that is over.
      if (call == null || call.isOver) return;
      call.cancellation.cancel();
    } else if (method == r'$/progress') {
      final params = objectOf(message['params']);
      final work = actor.asked[params['id']];
      if (work == null) return;
      work.call?.progress(params['value']);
    } else if (method != null) {
      final params = message['params'];
      if (method == 'host.register') {
        actor.addHosts(objectOf(params)['hosts']);
      }
      actor.request(id, method, params == null ? null : objectOf(params));
    } else {
      _answer(actor, id, message);
    }
    await pumpEventQueue();
    _compare(actor, message, actor.server.last.take());
  }

  Future<void> _open(String name, Json message) async {
    final hello = objectOf(message['params']);
    final actor = Actor(name, hello, methodsOf(_vector));
    _actors[name] = actor;
    actor.client.link.start();
    actor.server.last.open();
    await pumpEventQueue();
    final sent = actor.server.last.take();
    final made = MadeCall(isHello: true);
    made.id = sent['id'];
    actor.calls[message['id']] = made;
    final params = objectOf(sent['params']);
    final own = given(<String, Object?>{...params, 'hosts': null});
    final other = given(<String, Object?>{...hello, 'hosts': null});
    expect(difference(other, own), null);
    expect(listOf(params['hosts']).length, listOf(hello['hosts']).length);
  }

  void _answer(Actor actor, Object? id, Json message) {
    final work = actor.asked.remove(id);
    // A page that no host shows is closed at once.
    if (work == null) return;
    final error = objectOf(message['error']);
    final code = intOf(error['code']);
    if (code == null) {
      work.answer.complete(message['result']);
      return;
    }
    final text = textOf(error['message']) ?? '';
    final kind = objectOf(error['data'])['kind'];
    if (kind == 'declined') {
      work.answer.completeError(Declined(text));
    } else {
      work.answer.completeError(
        bridgeError(code, text, data: error['data']),
      );
    }
  }

  /// What was sent is what the transcript has, but for the ids, which are the
  /// client's own, and the errors of hosts that are no application's.
  void _compare(Actor actor, Json expected, Json sent) {
    final method = textOf(expected['method']);
    final code = intOf(objectOf(expected['error'])['code']);
    if (method == r'$/cancelRequest') {
      final made = actor.calls[objectOf(expected['params'])['id']];
      expect(objectOf(sent['params'])['id'], made?.id);
    } else if (method != null && expected.containsKey('id')) {
      final made = actor.calls[expected['id']];
      if (made != null) made.id = sent['id'];
      final own = <String, Object?>{...sent, 'id': expected['id']};
      expect(difference(expected, own), null);
    } else if (code != null && !ErrorCode.isApplication(code)) {
      expect(sent['id'], expected['id']);
      final told = objectOf(sent['error'])['code'];
      expect(told == code || told == ErrorCode.hostFailed, true);
    } else {
      expect(difference(expected, sent), null);
    }
  }

  // What the transcript expects, a client is sent.

  Future<void> _receive(Actor actor, Json pattern) async {
    final message = objectOf(invented(pattern, _captures));
    final id = message['id'];
    final method = textOf(message['method']);
    final socket = actor.server.last;
    if (method == null) return _receiveAnswer(actor, socket, message);
    final params = objectOf(message['params']);
    if (method == r'$/progress') {
      final call = actor.calls[params['id']];
      final told = <String, Object?>{...params, 'id': call?.id};
      socket.push(<String, Object?>{...message, 'params': told});
      await pumpEventQueue();
      final heard = call?.heard ?? <Object?>[];
      expect(difference(params['value'], heard.last), null);
      return;
    }
    _complete(actor, method, params);
    if (id is Map<String, Object?>) {
      _lastID += 1;
      message['id'] = 'nobody-answers-$_lastID';
    }
    socket.push(message);
    await pumpEventQueue();
    if (method == r'$/cancelRequest') {
      final work = actor.asked[params['id']];
      expect(work?.call?.cancellation.isCancelled ?? true, true);
    } else if (message.containsKey('id')) {
      if (actor.fresh.isNotEmpty) {
        actor.asked[id] = actor.fresh.removeAt(0);
      } else if (method != 'page.close') {
        throw StateError('$method reached no host');
      }
    }
  }

  /// The answer to `session.open`, with all that belongs into it.
  Json _hello(Json told) {
    final whole = sessionInfo();
    for (final name in told.keys) {
      final value = told[name];
      if (value is! Map<String, Object?>) whole[name] = value;
    }
    whole['capabilities'] = <String>[];
    return whole;
  }

  /// Says what a transcript leaves open.
  void _complete(Actor actor, String method, Json params) {
    if (method == 'page.open') {
      final page = <String, Object?>{...objectOf(params['page'])};
      final scheme = actor.schemeOfPages;
      page['uri'] ??= '$scheme://made-up';
      page['id'] ??= 'made-up-page';
      params['page'] = page;
      final uri = textOf(page['uri']) ?? '';
      params['host'] = actor.chosenFor('page', uri);
    } else if (method == 'task.run') {
      params['uri'] ??= actor.firstTask;
      final uri = textOf(params['uri']) ?? '';
      params['host'] = actor.chosenFor('task', uri);
    }
  }

  Future<void> _receiveAnswer(
    Actor actor,
    FakeSocket socket,
    Json message,
  ) async {
    final call = actor.calls[message['id']];
    if (call == null) throw StateError('nothing was asked by that id');
    final told = message['result'];
    final result = call.isHello ? _hello(objectOf(told)) : told;
    socket.push(<String, Object?>{
      ...message,
      'id': call.id,
      if (message.containsKey('result')) 'result': result,
    });
    await pumpEventQueue();
    final error = objectOf(message['error']);
    if (call.isHello) {
      expect(actor.client.link.shown == BridgeState.open, error.isEmpty);
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
        actor.client.duties.hosting.pages.adopt(page, null);
      }
    }
  }
}
