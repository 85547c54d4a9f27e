import 'dart:convert';
import 'dart:io';

import 'package:test/test.dart';
import 'package:waybridge/src/values.dart';

import 'support/transcript_filter.dart';
import 'support/transcript_replayer.dart';

/// Minimum number of transcripts that clients of this package replay.
const int minTranscripts = 115;

/// Returns the transcripts by the names of their files.
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
  int replayed = 0;
  for (final name in all.keys) {
    final vector = all[name] ?? <String, Object?>{};
    if (unsupportedTranscripts.containsKey(name)) continue;
    if (reasonToSkip(vector) != null) continue;
    replayed += 1;
    test('$name: ${vector['name']}', () => TranscriptReplayer(vector).replay());
  }

  test('most transcripts are replayed', () {
    expect(replayed >= minTranscripts, true);
  });
}
