import 'dart:convert';
import 'dart:math';

/// An object of JSON: its values are null, bool, num, String, List and Json.
typedef Json = Map<String, Object?>;

/// The value as an object, or an empty one where it is none.
Json objectOf(Object? value) {
  return value is Map<String, Object?> ? value : <String, Object?>{};
}

/// The value as a list, or an empty one where it is none.
List<Object?> listOf(Object? value) {
  return value is List<Object?> ? value : <Object?>[];
}

/// The texts among the elements of a list.
List<String> textsOf(Object? value) {
  final texts = <String>[];
  for (final each in listOf(value)) {
    if (each is String) texts.add(each);
  }
  return texts;
}

/// The value where it is a text.
String? textOf(Object? value) => value is String ? value : null;

/// The value where it is a whole number.
int? intOf(Object? value) => value is int ? value : null;

/// The members that are there: null counts as absence for the protocol.
Json given(Json members) {
  final rest = <String, Object?>{};
  for (final name in members.keys) {
    final value = members[name];
    if (value != null) rest[name] = value;
  }
  return rest;
}

/// Bytes of UTF-8.
int sizeOf(String text) => utf8.encode(text).length;

/// A text that no other load of an app has: 48 random bits in 12 digits.
String randomID() {
  final random = Random();
  final high = random.nextInt(1 << 24).toRadixString(16).padLeft(6, '0');
  final low = random.nextInt(1 << 24).toRadixString(16).padLeft(6, '0');
  return '$high$low';
}

/// The scheme of a URI in lower case, or null where it has none.
String? schemeOf(String uri) {
  final match = RegExp(r'^([A-Za-z][A-Za-z0-9+.-]*):').firstMatch(uri);
  return match?.group(1)?.toLowerCase();
}
