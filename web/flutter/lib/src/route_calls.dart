import 'bridge.dart';
import 'models.dart';
import 'options.dart';

/// What a file of `waybridge routes generate --language dart` needs of a
/// client. The file declares the interface `RouteClient`, so that it imports
/// nothing; these are the same methods:
///
/// ```dart
/// final class Shop extends RouteCalls implements RouteClient {
///   Shop(super.bridge, {super.options});
/// }
/// ```
class RouteCalls {
  RouteCalls(this.bridge, {this.options = const CallOptions()});

  /// Where the calls go.
  final Bridge bridge;

  /// Those of each call.
  final CallOptions options;

  /// Opens a page and ends when it is gone, with `{"outcome", "code",
  /// "message", "data"}`.
  Future<Map<String, Object?>> open(
    String uri,
    Map<String, Object?> params,
  ) async {
    final outcome = await bridge.open(uri, params: params, options: options);
    return outcome.toJson();
  }

  /// Runs a task or service and ends with its value.
  Future<Object?> invoke(String uri, Map<String, Object?> params) {
    return bridge.invoke(uri, params: params, options: options);
  }

  /// Calls a method of an open page and ends with what the page answers.
  Future<Object?> call(
    String page,
    String method,
    Map<String, Object?> params,
  ) {
    return bridge.call(page, method, params: params, options: options);
  }

  /// The data of the events of a topic.
  Stream<Object?> events(String topic) {
    return bridge
        .events(<String>[topic])
        .map((BridgeEvent event) => event.data);
  }
}
