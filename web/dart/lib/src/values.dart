import 'dart:convert';
import 'dart:math';

/// A JSON object. Its values are null, bool, num, String, List and Json.
typedef Json = Map<String, Object?>;

/// Returns the value if it is an object, otherwise an empty object.
Json objectOf(Object? value) {
  return value is Map<String, Object?> ? value : <String, Object?>{};
}

/// Returns the value if it is a list, otherwise an empty list.
List<Object?> listOf(Object? value) {
  return value is List<Object?> ? value : <Object?>[];
}

/// Returns those elements of a list that are strings.
List<String> stringsOf(Object? value) {
  final texts = <String>[];
  for (final each in listOf(value)) {
    if (each is String) texts.add(each);
  }
  return texts;
}

/// Returns the value if it is a string, otherwise null.
String? stringOf(Object? value) => value is String ? value : null;

/// Returns the value if it is an integer, however it was written, otherwise
/// null: `7.0` is 7, because not every peer distinguishes them.
int? intOf(Object? value) {
  if (value is int) return value;
  if (value is! num || !value.isFinite) return null;
  final whole = value.toInt();
  return whole == value ? whole : null;
}

/// Returns the properties that are not null. The protocol treats null as
/// absent.
Json withoutNulls(Json members) {
  final rest = <String, Object?>{};
  for (final name in members.keys) {
    final value = members[name];
    if (value != null) rest[name] = value;
  }
  return rest;
}

/// Returns the number of bytes of a string in UTF-8.
int sizeOf(String text) => utf8.encode(text).length;

/// Whether a string has half of a surrogate pair, which UTF-8 cannot express.
bool hasHalfSurrogatePair(String text) {
  bool isHigh = false;
  for (int index = 0; index < text.length; index += 1) {
    final unit = text.codeUnitAt(index);
    if ((unit >= 0xdc00 && unit <= 0xdfff) != isHigh) return true;
    isHigh = unit >= 0xd800 && unit <= 0xdbff;
  }
  return isHigh;
}

/// Returns a string with U+FFFD for each half of a surrogate pair.
String repaired(String text) {
  return hasHalfSurrogatePair(text) ? utf8.decode(utf8.encode(text)) : text;
}

/// Returns at most that many UTF-16 units of a string, and no half of a
/// surrogate pair at its end.
String shortened(String text, int most) {
  if (text.length <= most) return text;
  final last = text.codeUnitAt(most - 1);
  final isCut = last >= 0xd800 && last <= 0xdbff;
  return text.substring(0, isCut ? most - 1 : most);
}

/// Returns an id that no other load of an app has: 48 random bits as 12 digits.
String randomID() {
  final random = Random();
  final high = random.nextInt(1 << 24).toRadixString(16).padLeft(6, '0');
  final low = random.nextInt(1 << 24).toRadixString(16).padLeft(6, '0');
  return '$high$low';
}

/// Returns the scheme of a URI in lower case, or null if it has none.
String? schemeOf(String uri) {
  final match = RegExp(r'^([A-Za-z][A-Za-z0-9+.-]*):').firstMatch(uri);
  return match?.group(1)?.toLowerCase();
}
