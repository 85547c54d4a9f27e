import 'dart:convert';

/// Returns why a server cannot read a decoded message; null if it can
/// (PROTOCOL.md, JSON).
String? problemOf(Object? message, [int levels = 128]) {
  if (message is String) {
    // A byte order mark at the beginning would be lost.
    final text = 'x$message';
    final isText = utf8.decode(utf8.encode(text)) == text;
    return isText ? null : 'half of a surrogate pair';
  }
  if (message is List<Object?>) {
    if (levels == 0) return 'too many levels';
    for (final each in message) {
      final problem = problemOf(each, levels - 1);
      if (problem != null) return problem;
    }
  }
  if (message is Map<String, Object?>) {
    if (levels == 0) return 'too many levels';
    for (final name in message.keys) {
      final own = problemOf(name);
      final problem = own ?? problemOf(message[name], levels - 1);
      if (problem != null) return problem;
    }
  }
  return null;
}
