import 'dart:async';

// The part of Flutter that the Flutter layer uses, as far as its tests need it.
abstract class Widget {
  const Widget();
}

// A value with listeners.
abstract class ValueListenable<T> {
  const ValueListenable();

  T get value;
}

/// A value that can be set.
final class ValueNotifier<T> extends ValueListenable<T> {
  ValueNotifier(this.value);

  @override
  T value;
}

/// A widget that is built again with each new value.
final class ValueListenableBuilder<T> extends Widget {
  const ValueListenableBuilder({
    required this.valueListenable,
    required this.builder,
  });

  final ValueListenable<T> valueListenable;
  final Widget Function(BuildContext context, T value, Widget? child) builder;

  Widget build(BuildContext context) {
    return builder(context, valueListenable.value, null);
  }
}

// The location of a widget.
final class BuildContext {
  const BuildContext();
}

// The settings of a route.
final class RouteSettings {
  const RouteSettings({this.name, this.arguments});

  final String? name;
  final Object? arguments;
}

// A route of a navigator.
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

// An observer of a navigator's routes.
class NavigatorObserver {
  NavigatorObserver();

  void didPop(Route<dynamic> route, Route<dynamic>? previousRoute) {}

  void didRemove(Route<dynamic> route, Route<dynamic>? previousRoute) {}

  void didReplace({Route<dynamic>? newRoute, Route<dynamic>? oldRoute}) {}
}

// The configuration of a navigator.
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

// A key that gives access to the state of a widget.
final class GlobalKey<T> {
  GlobalKey();

  T? currentState;
}
