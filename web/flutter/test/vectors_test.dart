import 'dart:convert';
import 'dart:io';

import 'package:test/test.dart';
import 'package:waybridge/src/values.dart';

import 'support/playable.dart';
import 'support/player.dart';

/// Transcripts that clients of this package play, at the least.
const int least = 115;

/// The transcripts, by the names of their files.
Map<String, Json> transcripts() {
  final folder = Platform.environment['WAYBRIDGE_VECTORS'];
  final directory = Directory(folder ?? '../../protocol/vectors');
  final found = <String, Json>{};
  for (final each in directory.listSync()) {
    final path = each.path;
    if (!path.endsWith('.json')) continue;
    final name = path.split('/').last;
    found[name] = objectOf(jsonDecode(File(path).readAsStringSync()));
  }
  return found;
}

void main() {
  final all = transcripts();
  int played = 0;
  for (final name in all.keys) {
    final vector = all[name] ?? <String, Object?>{};
    if (others.containsKey(name) || reasonToSkip(vector) != null) continue;
    played += 1;
    test('$name: ${vector['name']}', () => Player(vector).play());
  }

  test('most transcripts are played', () {
    expect(played >= least, true);
  });
}
