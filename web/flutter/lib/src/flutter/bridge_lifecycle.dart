import 'package:flutter/widgets.dart';

import '../bridge.dart';

/// Has a bridge look at its connection when the app is looked at again: a
/// platform may have ended the socket meanwhile without telling.
final class BridgeLifecycle with WidgetsBindingObserver {
  BridgeLifecycle(this._bridge);

  final Bridge _bridge;

  /// Begins to listen; needs `WidgetsFlutterBinding.ensureInitialized()`.
  void start() => WidgetsBinding.instance.addObserver(this);

  /// Ends it.
  void stop() => WidgetsBinding.instance.removeObserver(this);

  @override
  void didChangeAppLifecycleState(AppLifecycleState state) {
    if (state == AppLifecycleState.resumed) _bridge.wake();
  }
}
