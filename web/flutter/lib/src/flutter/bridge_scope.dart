import 'package:flutter/widgets.dart';

import '../bridge.dart';

/// Hands a bridge to the widgets below it.
final class BridgeScope extends InheritedWidget {
  const BridgeScope({required this.bridge, required super.child, super.key});

  /// The app's.
  final Bridge bridge;

  /// The bridge of the nearest scope above.
  static Bridge of(BuildContext context) {
    final scope = context.dependOnInheritedWidgetOfExactType<BridgeScope>();
    if (scope != null) return scope.bridge;
    throw StateError('there is no BridgeScope above this widget');
  }

  @override
  bool updateShouldNotify(BridgeScope oldWidget) => bridge != oldWidget.bridge;
}
