import 'dart:async';

import 'package:flutter/material.dart';

import '../bridge.dart';
import '../errors.dart';
import '../host_call.dart';
import '../models.dart';
import '../page_host.dart';
import '../values.dart';

/// Builds what a page shows. The page ends with a result by
/// `Navigator.of(context).pop(result)`, whose result is JSON, and without one
/// by `pop()` and the back gesture.
typedef NavigatorPageBuilder = Widget Function(
  BuildContext context,
  BridgePage page,
);

/// Shows the pages of a scheme as routes of a [Navigator].
///
/// A page is built by the builder under the name of its route in the table,
/// else it is what the navigator's `onGenerateRoute` makes of its URI, with the
/// [BridgePage] as `arguments`; where that makes nothing, the page is left to
/// the next host.
final class NavigatorHost extends PageHost {
  NavigatorHost({
    required this.bridge,
    required this.navigator,
    this.builders = const <String, NavigatorPageBuilder>{},
    this.patterns,
    this.onError,
  });

  /// Told of the pages that leave.
  final Bridge bridge;

  /// The key of the navigator, which has a [BridgeNavigatorObserver] of this
  /// host among its `observers`.
  final GlobalKey<NavigatorState> navigator;

  /// By the names of the table's routes.
  final Map<String, NavigatorPageBuilder> builders;

  @override
  final List<String>? patterns;

  /// Told when a page has left and the bridge could not be told.
  final void Function(Object error)? onError;

  /// By the ids of the pages; what the bridge takes away is out of it before it
  /// leaves, so that its leaving is no news.
  final Map<String, Route<dynamic>> _routes = <String, Route<dynamic>>{};

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    final state = navigator.currentState;
    if (state == null) throw StateError('the navigator is not built yet');
    final route = _routeOf(page, state);
    if (route == null) throw Declined('no page is built for ${page.uri}');
    _routes[page.id] = route;
    unawaited(state.push(route));
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    final route = _routes.remove(page.id);
    final state = navigator.currentState;
    if (route == null || state == null || !route.isActive) return;
    if (route.isCurrent && exts['animated'] != false) {
      state.pop();
    } else {
      state.removeRoute(route);
    }
  }

  /// A route has left the navigator, with [result] where it was popped with
  /// one.
  void left(Route<dynamic> route, Future<dynamic>? result) {
    for (final id in _routes.keys.toList()) {
      if (!identical(_routes[id], route)) continue;
      _routes.remove(id);
      unawaited(_report(id, result));
    }
  }

  Route<dynamic>? _routeOf(BridgePage page, NavigatorState state) {
    final settings = RouteSettings(name: page.uri, arguments: page);
    final builder = builders[page.route];
    if (builder == null) {
      final generate = state.widget.onGenerateRoute;
      return generate == null ? null : generate(settings);
    }
    return MaterialPageRoute(
      builder: (BuildContext context) => builder(context, page),
      settings: settings,
      fullscreenDialog: page.style == 'present',
    );
  }

  Future<void> _report(String id, Future<dynamic>? popped) async {
    try {
      final Object? result = popped == null ? null : await popped;
      if (result == null) {
        await _dismiss(id);
      } else {
        await bridge.finish(page: id, result: result);
      }
    } catch (error) {
      final listener = onError;
      if (listener != null) listener(error);
    }
  }

  Future<void> _dismiss(String id) async {
    try {
      await bridge.back(before: id);
    } on RouteNotFound catch (error) {
      // The root can not be left by going back; a page that is not on the
      // stack any more has been closed meanwhile.
      if (error.kind == 'nothingBefore') await bridge.finish(page: id);
    }
  }
}

/// Tells a [NavigatorHost] of the pages that leave its navigator, by whomever:
/// the back gesture, the back button, or the app's own code.
final class BridgeNavigatorObserver extends NavigatorObserver {
  BridgeNavigatorObserver(this._host);

  final NavigatorHost _host;

  @override
  void didPop(Route<dynamic> route, Route<dynamic>? previousRoute) {
    super.didPop(route, previousRoute);
    _host.left(route, route.popped);
  }

  @override
  void didRemove(Route<dynamic> route, Route<dynamic>? previousRoute) {
    super.didRemove(route, previousRoute);
    _host.left(route, null);
  }

  @override
  void didReplace({Route<dynamic>? newRoute, Route<dynamic>? oldRoute}) {
    super.didReplace(newRoute: newRoute, oldRoute: oldRoute);
    if (oldRoute != null) _host.left(oldRoute, null);
  }
}
