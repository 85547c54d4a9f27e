import 'dart:async';

/// What the Flutter layer uses of Flutter, as far as its tests need it.
abstract class Widget {
  const Widget();
}

/// Where a widget is.
final class BuildContext {
  const BuildContext();
}

/// What a route is about.
final class RouteSettings {
  const RouteSettings({this.name, this.arguments});

  final String? name;
  final Object? arguments;
}

/// Something on a navigator.
class Route<T> {
  Route({required this.settings});

  final RouteSettings settings;
  final Completer<Object?> _popped = Completer<Object?>();
  NavigatorState? navigator;

  Future<Object?> get popped => _popped.future;

  bool get isActive => navigator != null;

  bool get isCurrent {
    final own = navigator;
    return own != null && identical(own.routes.last, this);
  }

  void gone(Object? result) {
    navigator = null;
    _popped.complete(result);
  }
}

/// A page of Material Design.
final class MaterialPageRoute<T> extends Route<T> {
  MaterialPageRoute({
    required this.builder,
    required super.settings,
    this.fullscreenDialog = false,
  });

  final Widget Function(BuildContext context) builder;
  final bool fullscreenDialog;
}

/// What hears of a navigator's routes.
class NavigatorObserver {
  NavigatorObserver();

  void didPop(Route<dynamic> route, Route<dynamic>? previousRoute) {}

  void didRemove(Route<dynamic> route, Route<dynamic>? previousRoute) {}

  void didReplace({Route<dynamic>? newRoute, Route<dynamic>? oldRoute}) {}
}

/// How a navigator was made.
final class Navigator {
  Navigator(this.onGenerateRoute);

  final Route<dynamic>? Function(RouteSettings settings)? onGenerateRoute;
}

/// A stack of routes.
final class NavigatorState {
  NavigatorState(this.widget);

  final Navigator widget;
  final List<Route<dynamic>> routes = <Route<dynamic>>[];
  final List<NavigatorObserver> observers = <NavigatorObserver>[];

  Future<Object?> push<T>(Route<dynamic> route) {
    route.navigator = this;
    routes.add(route);
    return route.popped;
  }

  void pop<T>([Object? result]) {
    final route = routes.removeAt(routes.length - 1);
    route.gone(result);
    for (final observer in observers) {
      observer.didPop(route, null);
    }
  }

  void removeRoute(Route<dynamic> route) {
    routes.remove(route);
    route.gone(null);
    for (final observer in observers) {
      observer.didRemove(route, null);
    }
  }
}

/// A way to what a widget has become.
final class GlobalKey<T> {
  GlobalKey();

  T? currentState;
}
