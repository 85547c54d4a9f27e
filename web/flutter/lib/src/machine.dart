/// A state that changes along a table, and in no other way.
final class Machine<S extends Object, E extends Object> {
  Machine(this._state, this._table);

  S _state;
  final Map<S, Map<E, S>> _table;

  /// Where it is now.
  S get state => _state;

  /// Whether the table has the event in this state.
  bool can(E event) => _next(event) != null;

  /// Goes on by an event that the table has in this state; any other is a
  /// mistake of this package.
  void fire(E event) {
    final next = _next(event);
    if (next == null) throw StateError('no $event in the state $_state');
    _state = next;
  }

  S? _next(E event) {
    final row = _table[_state];
    return row == null ? null : row[event];
  }
}
