import 'package:flutter/material.dart';
import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/flutter/navigator_host.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/values.dart';

import 'support/fake_socket.dart';
import 'support/matching.dart';
import 'support/scene.dart';

final class _Text extends Widget {
  const _Text();
}

final class _Stage {
  _Stage() {
    state = NavigatorState(Navigator(_generate));
    final key = GlobalKey<NavigatorState>();
    key.currentState = state;
    final host = NavigatorHost(
      bridge: scene.bridge,
      navigator: key,
      builders: <String, NavigatorPageBuilder>{
        'review': (BuildContext context, BridgePage page) => const _Text(),
      },
      onError: (Object error) => errors.add(error),
    );
    state.observers.add(BridgeNavigatorObserver(host));
    scene.bridge.host('flutter', host);
  }

  final Scene scene = Scene();
  final List<Object> errors = <Object>[];
  late final NavigatorState state;

  Future<void> open(String id, String uri, [String? route]) async {
    await scene.comes(<String, Object?>{
      'id': 'open-$id',
      'method': 'page.open',
      'params': <String, Object?>{
        'page': <String, Object?>{'id': id, 'uri': uri, 'route': route},
        'host': <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
      },
    });
  }

  Route<dynamic>? _generate(RouteSettings settings) {
    if (settings.name != 'flutter://named') return null;
    return MaterialPageRoute(
      builder: (BuildContext context) => const _Text(),
      settings: settings,
    );
  }
}

void main() {
  test('a page is popped with its result', () async {
    final stage = _Stage();
    await stage.scene.opened();
    await stage.open('p1', 'flutter://review/7', 'review');
    expect(stage.scene.socket.take()['result'], null);
    expect(stage.state.routes.last.settings.name, 'flutter://review/7');
    stage.state.pop(<String, Object?>{'stars': 5});
    await pumpEventQueue();
    final sent = stage.scene.socket.take();
    expect(sent['method'], 'navigation.finish');
    expect(
      difference(<String, Object?>{
        'page': 'p1',
        'result': <String, Object?>{
          'data': <String, Object?>{'stars': 5},
        },
      }, sent['params']),
      null,
    );
    await stage.scene.bridge.close();
  });

  test('the back gesture dismisses, and finishes the root', () async {
    final stage = _Stage();
    await stage.scene.opened();
    await stage.open('p1', 'flutter://named');
    stage.scene.socket.take();
    stage.state.pop();
    await pumpEventQueue();
    final back = stage.scene.socket.take();
    expect(back['method'], 'navigation.back');
    expect(objectOf(back['params'])['before'], 'p1');
    await stage.scene.comes(<String, Object?>{
      'id': back['id'],
      'error': <String, Object?>{
        'code': ErrorCode.noRoute,
        'message': 'nothing before',
        'data': <String, Object?>{'kind': 'nothingBefore'},
      },
    });
    expect(stage.scene.socket.take()['method'], 'navigation.finish');
    expect(stage.errors.isEmpty, true);
    await stage.scene.bridge.close();
  });

  test('what the session closes is no news to it', () async {
    final stage = _Stage();
    await stage.scene.opened();
    await stage.open('p1', 'flutter://named');
    await stage.open('p2', 'flutter://named');
    stage.scene.socket.sent.clear();
    for (final id in <String>['p1', 'p2']) {
      await stage.scene.comes(<String, Object?>{
        'id': 'close-$id',
        'method': 'page.close',
        'params': <String, Object?>{'page': id, 'reason': 'dismissed'},
      });
      expect(stage.scene.socket.take()['id'], 'close-$id');
    }
    await pumpEventQueue();
    expect(stage.state.routes.isEmpty, true);
    expect(stage.scene.socket.sent.isEmpty, true);
    await stage.scene.bridge.close();
  });

  test('a page that nothing is built for is declined', () async {
    final stage = _Stage();
    await stage.scene.opened();
    await stage.open('p1', 'flutter://unknown');
    final answer = objectOf(stage.scene.socket.take()['error']);
    expect(objectOf(answer['data'])['kind'], 'declined');
    expect(answerTo(answer, null)['result'], null);
    await stage.scene.bridge.close();
  });
}
