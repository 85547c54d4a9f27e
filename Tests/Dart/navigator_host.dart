import 'package:flutter/material.dart';
import 'package:test/test.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/values.dart';
import 'package:waybridge_flutter/src/navigator_host.dart';

import 'support/bridge_fixture.dart';
import 'support/fake_socket.dart';
import 'support/transcript_matcher.dart';

final class _Text extends Widget {
  const _Text([this.text]);

  final Object? text;
}

final class _Stage {
  _Stage() {
    state = NavigatorState(Navigator(_generate));
    final key = GlobalKey<NavigatorState>();
    key.currentState = state;
    host = NavigatorHost(
      bridge: fixture.bridge,
      navigator: key,
      builders: <String, NavigatorPageBuilder>{
        'review': (BuildContext context, BridgePage page) {
          return _Text(page.params['stars']);
        },
      },
      onError: (Object error) => errors.add(error),
    );
    state.observers.add(BridgeNavigatorObserver(host));
    fixture.bridge.host('flutter', host);
  }

  final BridgeFixture fixture = BridgeFixture();
  final List<Object> errors = <Object>[];
  late final NavigatorState state;
  late final NavigatorHost host;

  /// The text of the widget that is shown on top.
  Object? get text {
    const context = BuildContext();
    final route = state.routes.last;
    if (route is! MaterialPageRoute) return null;
    final build = route.builder;
    final widget = build(context);
    if (widget is! ValueListenableBuilder) return null;
    final shown = widget.build(context);
    return shown is _Text ? shown.text : null;
  }

  Future<void> open(String id, String uri, [String? route]) async {
    await fixture.receive(<String, Object?>{
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
    await stage.fixture.openSession();
    await stage.open('p1', 'flutter://review/7', 'review');
    expect(stage.fixture.socket.dequeue()['result'], null);
    expect(stage.state.routes.last.settings.name, 'flutter://review/7');
    stage.state.pop(<String, Object?>{'stars': 5});
    await pumpEventQueue();
    final sent = stage.fixture.socket.dequeue();
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
    await stage.fixture.bridge.close();
  });

  test('the back gesture dismisses, and finishes the root', () async {
    final stage = _Stage();
    await stage.fixture.openSession();
    await stage.open('p1', 'flutter://named');
    stage.fixture.socket.dequeue();
    stage.state.pop();
    await pumpEventQueue();
    final back = stage.fixture.socket.dequeue();
    expect(back['method'], 'navigation.back');
    expect(objectOf(back['params'])['before'], 'p1');
    await stage.fixture.receive(<String, Object?>{
      'id': back['id'],
      'error': <String, Object?>{
        'code': ErrorCode.noRoute,
        'message': 'nothing before',
        'data': <String, Object?>{'kind': 'nothingBefore'},
      },
    });
    expect(stage.fixture.socket.dequeue()['method'], 'navigation.finish');
    expect(stage.errors.isEmpty, true);
    await stage.fixture.bridge.close();
  });

  test('a page that the session closes is not reported back', () async {
    final stage = _Stage();
    await stage.fixture.openSession();
    await stage.open('p1', 'flutter://named');
    await stage.open('p2', 'flutter://named');
    stage.fixture.socket.sent.clear();
    for (final id in <String>['p1', 'p2']) {
      await stage.fixture.receive(<String, Object?>{
        'id': 'close-$id',
        'method': 'page.close',
        'params': <String, Object?>{'page': id, 'reason': 'dismissed'},
      });
      expect(stage.fixture.socket.dequeue()['id'], 'close-$id');
    }
    await pumpEventQueue();
    expect(stage.state.routes.isEmpty, true);
    expect(stage.fixture.socket.sent.isEmpty, true);
    await stage.fixture.bridge.close();
  });

  test('new parameters reach the widget of an open page', () async {
    final stage = _Stage();
    await stage.fixture.openSession();
    await stage.open('p1', 'flutter://review/7', 'review');
    expect(stage.text, null);
    await stage.open('p2', 'flutter://named');
    for (final id in <String>['p2', 'p1']) {
      await stage.fixture.receive(<String, Object?>{
        'method': 'page.resume',
        'params': <String, Object?>{
          'page': id,
          'params': <String, Object?>{'stars': id},
        },
      });
    }
    // A route of onGenerateRoute gets them from the host.
    final named = stage.host.page('p2')?.value;
    expect(objectOf(named?.params)['stars'], 'p2');
    stage.state.pop();
    expect(stage.host.page('p2') == null, true);
    expect(stage.text, 'p1');
    await stage.fixture.bridge.close();
  });

  test('a page that nothing is built for is declined', () async {
    final stage = _Stage();
    await stage.fixture.openSession();
    await stage.open('p1', 'flutter://unknown');
    final answer = objectOf(stage.fixture.socket.dequeue()['error']);
    expect(objectOf(answer['data'])['kind'], 'declined');
    expect(responseTo(answer, null)['result'], null);
    await stage.fixture.bridge.close();
  });
}
