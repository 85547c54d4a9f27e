// The parts that are the same in every Dart file.
extension DartCode {
  static let clientInterface = #"""
    /// The client that the calls below use. Values are those of JSON: null, bool, num, String, List and
    /// Map<String, Object?>.
    abstract class RouteClient {
      /// Opens a page and ends when it is gone, with `{"outcome", "code", "message", "data"}`.
      Future<Map<String, Object?>> open(String uri, Map<String, Object?> params);

      /// Runs a task or service and ends with its value.
      Future<Object?> invoke(String uri, Map<String, Object?> params);

      /// Calls a method of an open page and ends with its result.
      Future<Object?> call(String page, String method, Map<String, Object?> params);

      /// The data of the events of a topic.
      Stream<Object?> events(String topic);

      /// Publishes an event in the client's session.
      Future<void> publish(String topic, Object? data);
    }

    /// How a page ended.
    class PageOutcome<R> {
      /// finished, dismissed, replaced, failed or cancelled.
      final String kind;

      /// 0, or a code of the page's own or of the protocol's.
      final int code;

      /// Text for people; may be empty.
      final String message;

      /// The result of the page; null without a result.
      final R? data;

      const PageOutcome(this.kind, this.code, this.message, this.data);
    }

    /// A value does not fit the table, or a parameter has no place in a URI.
    class RouteException implements Exception {
      /// Says what is wrong, and where.
      final String message;

      const RouteException(this.message);

      @override
      String toString() => message;
    }

    """#

  static let runtimeHelpers = #"""
    typedef _Reader<T> = T Function(Object? json, String path);

    Future<PageOutcome<R>> _open<R>(RouteClient client, List<String> patterns,
        Map<String, Object?> params, _Reader<R> read) async {
      final rest = Map.of(params);
      final uri = _fill(patterns, rest);
      final outcome = await client.open(uri, rest);
      final kind = _text(outcome["outcome"], "outcome");
      final data = outcome["data"];
      return PageOutcome(kind, _integer(outcome["code"], "code"), _text(outcome["message"], "message"),
          kind == "finished" && data != null ? read(data, uri) : null);
    }

    Future<R> _invoke<R>(RouteClient client, List<String> patterns, Map<String, Object?> params,
        _Reader<R> read) async {
      final rest = Map.of(params);
      final uri = _fill(patterns, rest);
      return read(await client.invoke(uri, rest), uri);
    }

    Future<R> _call<R>(RouteClient client, String page, String method, Map<String, Object?> params,
            _Reader<R> read) async =>
        read(await client.call(page, method, params), method);

    /// Fills in the first of the patterns that all names are there for, and takes those out.
    String _fill(List<String> patterns, Map<String, Object?> params) {
      for (final pattern in patterns) {
        final colon = pattern.indexOf(":") + 1;
        final parts = pattern.substring(colon).split("/");
        final names = [for (final part in parts) if (part.startsWith(":")) part.substring(1)];
        if (pattern != patterns.last && names.any((name) => params[name] == null)) continue;
        final filled = [
          for (final part in parts)
            if (part == "*")
              ...[
                for (final one in _list(params["*"], "*"))
                  _segment(one, "*", one == "")
              ]
            else if (part.startsWith(":"))
              _segment(params[part.substring(1)], part.substring(1), false)
            else
              part
        ];
        if (parts.last == "*" && filled.last == "") filled.add("");
        names.forEach(params.remove);
        params.remove("*");
        return pattern.substring(0, colon) + filled.join("/");
      }
      throw const RouteException("a call needs a pattern");
    }

    String _segment(Object? value, String name, bool mayBeEmpty) {
      final text = value is String || value is num || value is bool ? value.toString() : "";
      if (text == "." || text == ".." || (text == "" && !mayBeEmpty)) {
        throw RouteException("$name is a part of the URI: it must be there, and not be empty, '.' or '..'");
      }
      return Uri.encodeComponent(text);
    }

    Never _unfit(String path, String expected, Object? json) => throw RouteException(
        "$path has to be $expected; it is ${json == null ? "null" : json.runtimeType}");

    String _at(String path, String name) => "$path.$name";

    String _text(Object? json, String path) => json is String ? json : _unfit(path, "a string", json);

    int _integer(Object? json, String path) => json is num && json == json.truncate()
        ? json.toInt()
        : _unfit(path, "an integer", json);

    double _number(Object? json, String path) =>
        json is num ? json.toDouble() : _unfit(path, "a number", json);

    bool _truth(Object? json, String path) => json is bool ? json : _unfit(path, "true or false", json);

    Object? _anything(Object? json, String path) => json;

    Map<String, Object?> _object(Object? json, String path) =>
        json is Map ? Map<String, Object?>.from(json) : _unfit(path, "an object", json);

    List<Object?> _list(Object? json, String path) =>
        json is List ? List<Object?>.from(json) : _unfit(path, "an array", json);

    _Reader<List<T>> _listOf<T>(_Reader<T> read) => (json, path) {
          final list = _list(json, path);
          return [for (var index = 0; index < list.length; index++) read(list[index], "$path[$index]")];
        };

    _Reader<T?> _orNull<T>(_Reader<T> read) =>
        (json, path) => json == null ? null : read(json, path);

    """#
}
