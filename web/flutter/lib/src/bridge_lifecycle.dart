import 'package:flutter/widgets.dart';
import 'package:waybridge/waybridge.dart';

/// Checks a bridge's connection when the app is in the foreground again: the
/// platform may have closed the socket meanwhile without an event.
final class BridgeLifecycle with WidgetsBindingObserver {
  BridgeLifecycle(this._bridge);

  final Bridge _bridge;

  /// Starts listening; needs `WidgetsFlutterBinding.ensureInitialized()`.
  void start() => WidgetsBinding.instance.addObserver(this);

  /// Stops listening.
  void stop() => WidgetsBinding.instance.removeObserver(this);

  @override
  void didChangeAppLifecycleState(AppLifecycleState state) {
    if (state == AppLifecycleState.resumed) _bridge.wake();
  }
}
