import 'bridge.dart';
import 'models.dart';
import 'options.dart';

/// Implements the interface `RouteClient` that a file of `waybridge routes
/// generate --language dart` declares, so that it imports nothing:
///
/// ```dart
/// final class Shop extends RouteCalls implements RouteClient {
///   Shop(super.bridge, {super.options});
/// }
/// ```
class RouteCalls {
  RouteCalls(this.bridge, {this.options = const CallOptions()});

  /// The bridge that makes the calls.
  final Bridge bridge;

  /// The options of each call.
  final CallOptions options;

  /// Opens a page and completes when it closes, with `{"outcome", "code",
  /// "message", "data"}`.
  Future<Map<String, Object?>> open(
    String uri,
    Map<String, Object?> params,
  ) async {
    final outcome = await bridge.open(uri, params: params, options: options);
    return outcome.toJson();
  }

  /// Runs a task or a service and completes with its value.
  Future<Object?> invoke(String uri, Map<String, Object?> params) {
    return bridge.invoke(uri, params: params, options: options);
  }

  /// Calls a method of an open page and completes with its result.
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

  /// Publishes an event in the session.
  Future<void> publish(String topic, Object? data) async {
    await bridge.publish(topic, data);
  }
}
