import 'dart:async';

import 'package:test/test.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/values.dart';

import 'support/bridge_fixture.dart';
import 'support/transcript_matcher.dart';

final class _Pages extends PageHost {
  _Pages();

  final List<String> log = <String>[];
  Completer<void>? opening;

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    log.add('open ${page.id}');
    final wait = opening;
    if (wait != null) await wait.future;
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    log.add('close ${page.id} ${page.params}');
  }

  @override
  Future<void> updated(BridgePage page) async {
    log.add('updated ${page.uri} ${page.params} ${page.exts}');
  }

  @override
  Future<void> resumed(BridgePage page) async => log.add('resumed ${page.id}');
}

/// A bridge with an open session and a page that opens.
Future<BridgeFixture> _open(_Pages host) async {
  final fixture = BridgeFixture();
  fixture.bridge.host('flutter', host);
  await fixture.openSession();
  await fixture.receive(<String, Object?>{
    'id': 'open',
    'method': 'page.open',
    'params': <String, Object?>{
      'page': <String, Object?>{'id': 'p1', 'uri': 'flutter://x'},
      'host': <String, Object?>{'scheme': 'flutter', 'kind': 'page'},
    },
  });
  return fixture;
}

Json _resume(Json members) {
  return <String, Object?>{
    'method': 'page.resume',
    'params': <String, Object?>{'page': 'p1', ...members},
  };
}

void main() {
  test('an open page gets new parameters', () async {
    final host = _Pages();
    final fixture = await _open(host);
    for (final members in <Json>[
      <String, Object?>{},
      <String, Object?>{
        'uri': 'flutter://x?a=1',
        'params': <String, Object?>{'a': '1'},
        'exts': <String, Object?>{'b': 2},
      },
      <String, Object?>{'params': <String, Object?>{}},
    ]) {
      await fixture.receive(_resume(members));
    }
    expect(
      difference(<Object?>[
        'open p1',
        'resumed p1',
        'updated flutter://x?a=1 {a: 1} {b: 2}',
        'resumed p1',
        'updated flutter://x?a=1 {} {b: 2}',
        'resumed p1',
      ], host.log),
      null,
    );
    await fixture.bridge.close();
  });

  test('a page that is still opening gets them later', () async {
    final host = _Pages();
    final opening = Completer<void>();
    host.opening = opening;
    final fixture = await _open(host);
    final params = <String, Object?>{'a': 1};
    await fixture.receive(_resume(<String, Object?>{'params': params}));
    expect(host.log.length, 1);
    opening.complete();
    await pumpEventQueue();
    expect(host.log[1], 'updated flutter://x {a: 1} {}');
    expect(host.log.last, 'resumed p1');
    await fixture.bridge.close();
    await pumpEventQueue();
    expect(host.log.last, 'close p1 {a: 1}');
  });
}
