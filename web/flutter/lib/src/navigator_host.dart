import 'dart:async';

import 'package:flutter/foundation.dart' show ValueListenable, ValueNotifier;
import 'package:flutter/material.dart';
import 'package:waybridge/waybridge.dart';

/// Builds the widget of a page, and builds it again with new parameters if a
/// call delivers them to the open page.
///
/// `Navigator.of(context).pop(result)` closes the page with a result, which
/// must be JSON. `pop()` and the back gesture close it without a result.
typedef NavigatorPageBuilder = Widget Function(
  BuildContext context,
  BridgePage page,
);

/// Shows the pages of a scheme as routes of a [Navigator].
///
/// The builder with the name of the page's route in the table builds the page.
/// Without such a builder, the navigator's `onGenerateRoute` creates the route
/// for the URI, with the [BridgePage] as `arguments`. If that returns null, the
/// page is left to the next host. [page] notifies such a route of new
/// parameters.
final class NavigatorHost extends PageHost {
  NavigatorHost({
    required this.bridge,
    required this.navigator,
    this.builders = const <String, NavigatorPageBuilder>{},
    this.patterns,
    this.onError,
  });

  /// The bridge that is notified of removed pages.
  final Bridge bridge;

  /// The key of the navigator, which has a [BridgeNavigatorObserver] of this
  /// host among its `observers`.
  final GlobalKey<NavigatorState> navigator;

  /// Builders by the names of the table's routes.
  final Map<String, NavigatorPageBuilder> builders;

  @override
  final List<String>? patterns;

  /// Called when a page was removed and the bridge could not be notified.
  final void Function(Object error)? onError;

  /// The shown pages by their ids. A page that the bridge closes is removed
  /// from it first, so that its removal is not reported back.
  final Map<String, _ShownPage> _pages = <String, _ShownPage>{};

  /// The page with this id, which changes when a call delivers new parameters
  /// to it; null if this host does not show it.
  ValueListenable<BridgePage>? page(String id) => _pages[id]?.page;

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    final state = navigator.currentState;
    if (state == null) throw StateError('The navigator is not built yet');
    final current = ValueNotifier(page);
    final route = _routeOf(current, state);
    if (route == null) {
      throw DeclinedException('This app builds no page for "${page.uri}"');
    }
    _pages[page.id] = _ShownPage(current, route);
    unawaited(state.push(route));
  }

  @override
  Future<void> updated(BridgePage page) async {
    final shown = _pages[page.id];
    if (shown != null) shown.page.value = page;
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    final route = _pages.remove(page.id)?.route;
    final state = navigator.currentState;
    if (route == null || state == null || !route.isActive) return;
    if (route.isCurrent && exts['animated'] != false) {
      state.pop();
    } else {
      state.removeRoute(route);
    }
  }

  /// Called when a route was removed from the navigator, with its [result] if
  /// it was popped with one.
  void routeRemoved(Route<dynamic> route, Future<dynamic>? result) {
    for (final id in _pages.keys.toList()) {
      if (!identical(_pages[id]?.route, route)) continue;
      _pages.remove(id);
      unawaited(_report(id, result));
    }
  }

  Route<dynamic>? _routeOf(
    ValueNotifier<BridgePage> current,
    NavigatorState state,
  ) {
    final page = current.value;
    final settings = RouteSettings(name: page.uri, arguments: page);
    final builder = builders[page.route];
    if (builder == null) {
      final generate = state.widget.onGenerateRoute;
      return generate == null ? null : generate(settings);
    }
    return MaterialPageRoute(
      builder: (BuildContext context) => ValueListenableBuilder<BridgePage>(
        valueListenable: current,
        builder: (BuildContext context, BridgePage page, Widget? child) {
          return builder(context, page);
        },
      ),
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
    } on RouteNotFoundException catch (error) {
      // Going back cannot close the root. A page that is no longer on the
      // stack was closed meanwhile.
      if (error.kind == 'nothingBefore') await bridge.finish(page: id);
    }
  }
}

/// A page that a host shows, with its route.
final class _ShownPage {
  const _ShownPage(this.page, this.route);

  final ValueNotifier<BridgePage> page;
  final Route<dynamic> route;
}

/// Notifies a [NavigatorHost] of pages that were removed from its navigator by
/// the back gesture, the back button or code of the app.
final class BridgeNavigatorObserver extends NavigatorObserver {
  BridgeNavigatorObserver(this._host);

  final NavigatorHost _host;

  @override
  void didPop(Route<dynamic> route, Route<dynamic>? previousRoute) {
    super.didPop(route, previousRoute);
    _host.routeRemoved(route, route.popped);
  }

  @override
  void didRemove(Route<dynamic> route, Route<dynamic>? previousRoute) {
    super.didRemove(route, previousRoute);
    _host.routeRemoved(route, null);
  }

  @override
  void didReplace({Route<dynamic>? newRoute, Route<dynamic>? oldRoute}) {
    super.didReplace(newRoute: newRoute, oldRoute: oldRoute);
    if (oldRoute != null) _host.routeRemoved(oldRoute, null);
  }
}
