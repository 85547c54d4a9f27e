import 'package:flutter/widgets.dart';
import 'package:waybridge/waybridge.dart';

/// Provides a bridge to the widgets below it.
final class BridgeScope extends InheritedWidget {
  const BridgeScope({required this.bridge, required super.child, super.key});

  /// The bridge of the app.
  final Bridge bridge;

  /// The bridge of the nearest scope above.
  static Bridge of(BuildContext context) {
    final scope = context.dependOnInheritedWidgetOfExactType<BridgeScope>();
    if (scope != null) return scope.bridge;
    throw StateError('There is no BridgeScope above this widget');
  }

  @override
  bool updateShouldNotify(BridgeScope oldWidget) => bridge != oldWidget.bridge;
}
